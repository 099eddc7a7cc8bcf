/**
 * Codes of refusals to hosts, agents and users; stable. Agent-Auth's own codes are used where they exist.
 *
 * - `invalid_request`: the request is malformed; `path` names the place.
 * - `invalid_capabilities`: there are no capabilities of these names.
 * - `unknown_constraint_operator`: `operators` lists the unknown operators.
 * - `rate_limited`: too many hosts have registered recently; `retryAfter` says when to retry.
 * - `limit_exceeded`: the maximum number of a user's hosts, of agents, grants or open approvals is reached.
 * - `request_reused`: an idempotency key was used for another request.
 * - `hosts_not_allowed`: hosts cannot register themselves on this server; a user must create them.
 * - `key_in_use`: another host or agent has the key, or had it.
 */
export type PartyRefusalCode =
  | "invalid_request"
  | "invalid_capabilities"
  | "unknown_constraint_operator"
  | "unsupported_mode"
  | "unauthorized"
  | "agent_not_found"
  | "agent_exists"
  | "agent_pending"
  | "agent_expired"
  | "agent_rejected"
  | "agent_revoked"
  | "agent_claimed"
  | "absolute_lifetime_exceeded"
  | "host_not_found"
  | "host_pending"
  | "host_revoked"
  | "host_already_linked"
  | "hosts_not_allowed"
  | "enrolment_token_invalid"
  | "enrolment_token_expired"
  | "key_in_use"
  | "already_granted"
  | "capability_not_granted"
  | "grant_not_found"
  | "rate_limited"
  | "limit_exceeded"
  | "request_reused";

/** A refusal with its reason. Nothing has changed. */
export interface PartyRefusal {
  readonly ok: false;
  readonly code: PartyRefusalCode;
  readonly message: string;
  /** The invalid place in the request, such as `capabilities[1]`. */
  readonly path?: string;
  /** The names of the capabilities that the refusal is about. */
  readonly capabilities?: readonly string[];
  /** The unknown operators. */
  readonly operators?: readonly string[];
  /** Seconds to wait before the next request. */
  readonly retryAfter?: number;
}

/** The answer to a request, or a refusal. */
export type Outcome<Answer> = ({ readonly ok: true } & Answer) | PartyRefusal;

export function partyRefusal(
  code: PartyRefusalCode,
  message: string,
  more: Pick<PartyRefusal, "path" | "capabilities" | "operators" | "retryAfter"> = {},
): PartyRefusal {
  return { ok: false, code, message, ...more };
}

/** Aborts a transaction of the store with a refusal; nothing is written. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly refusal: PartyRefusal;

  constructor(refusal: PartyRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/**
 * Aborts a transaction of the store with a refusal.
 *
 * @throws RefusedError
 */
export function throwRefusal(...refusal: Parameters<typeof partyRefusal>): never {
  throw new RefusedError(partyRefusal(...refusal));
}
