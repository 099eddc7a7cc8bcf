/**
 * Codes of refused delegations. Stable.
 *
 * About the request:
 * - `scope_unknown`, `scope_not_held`: there is no such scope, or the capability to be delegated does not have it.
 * - `scope_not_subset`: the request names all scopes of the delegator, but must name a proper subset.
 * - `ttl_out_of_range`: the lifetime is too short or too long.
 * - `delegatee_is_delegator`, `delegatee_unknown`, `delegatee_inactive`, `tenant_mismatch`.
 *
 * About the capability to be delegated:
 * - `capability_missing`, `capability_ambiguous`: the caller has no capability, or has several and picks none.
 * - `capability_foreign`: the capability was issued to another party.
 * - `capability_bound`: the capability already names the agents that may use it, and delegation is not
 *   transitive.
 * - `capability_sealed`, `capability_full`: the capability allows no further hop, or is too large for another
 *   hop.
 * - `capability_refused`: the capability allows nothing now; `denial` is the code of the reason.
 *
 * About the caller and chains:
 * - `delegator_unknown`, `delegator_inactive`: the issuer does not know the caller as an agent, or the agent is
 *   not active.
 * - `chain_unknown`, `not_the_delegator`.
 * - `too_many_delegations`, `too_many_revocations`: the delegator already has the maximum number.
 */
export type DelegationCode =
  | "scope_unknown"
  | "scope_not_held"
  | "scope_not_subset"
  | "ttl_out_of_range"
  | "delegatee_is_delegator"
  | "delegatee_unknown"
  | "delegatee_inactive"
  | "tenant_mismatch"
  | "capability_missing"
  | "capability_ambiguous"
  | "capability_foreign"
  | "capability_bound"
  | "capability_sealed"
  | "capability_full"
  | "capability_refused"
  | "delegator_unknown"
  | "delegator_inactive"
  | "chain_unknown"
  | "not_the_delegator"
  | "too_many_delegations"
  | "too_many_revocations";

/** The part of a request that a refusal is about. */
export type DelegationField = "delegatee" | "scopes" | "ttl" | "capability" | "chain";

/** One reason for a refusal. */
export interface DelegationProblem {
  readonly code: DelegationCode;
  /** A sentence for people; never shows a token. */
  readonly message: string;
  readonly field?: DelegationField;
  /** The code of the denial, if `code` is `capability_refused`. */
  readonly denial?: string;
}

/** A refused delegation, or a refused action on one. */
export interface DelegationRefusal {
  readonly ok: false;
  /** All problems found by the first check that failed; never empty. */
  readonly problems: readonly [DelegationProblem, ...DelegationProblem[]];
}

/** Returns a refusal with one problem. */
export function delegationRefusal(
  code: DelegationCode,
  message: string,
  field?: DelegationField,
): DelegationRefusal {
  return { ok: false, problems: [delegationProblem(code, message, field)] };
}

export function delegationProblem(
  code: DelegationCode,
  message: string,
  field?: DelegationField,
): DelegationProblem {
  return { code, message, field };
}
