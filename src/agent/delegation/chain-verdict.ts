import { type AuthenticToken, revocationQueryFor } from "../../capability/authentic-token.js";
import { limitsArguments } from "../../caveats/operation-authority.js";
import { parseTime } from "../../caveats/time.js";
import type { Caller } from "../caller.js";
import type { DelegationRecord } from "../parties/records.js";
import type { KnownAgent } from "./agents.js";
import { authorityOf, type Chain, readChain } from "./chain.js";
import { keepChain } from "./chain-records.js";
import {
  delegateeProblem,
  LONGEST_DELEGATION,
  NOT_SUBSET,
  operationsHeld,
  SHORTEST_DELEGATION,
  TTL_OUT_OF_RANGE,
} from "./delegated-hop.js";
import { type DelegationCaller, holderOf, lifeDenials } from "./holdings.js";
import type { DelegationContext } from "./options.js";

/** The state of a delegation. Times are milliseconds since 1970. */
export interface ChainState {
  readonly id: string;
  /** Absent if the issuer does not know the party to which the capability was issued, or no longer knows it. */
  readonly delegator?: string;
  /** The id of the delegatee, or the name in the hop if no known agent has this name. */
  readonly delegatee: string;
  readonly scopes: readonly string[];
  /** True if hops limit the arguments of calls within the scopes. */
  readonly argumentsLimited: boolean;
  /** The services that may accept the delegation; any service if absent. */
  readonly audience?: readonly string[];
  readonly issued: number;
  /**
   * The source of {@link ChainState.issued}: the token itself, or the time at which the issuer first saw the
   * delegation.
   */
  readonly issuedSource: "token" | "first_seen";
  readonly expires: number;
  readonly revoked?: number;
}

/** The result of verifying a string as a delegation. Reasons are stable codes. */
export type DelegationVerdict =
  | { readonly valid: true; readonly chain: ChainState }
  | { readonly valid: false; readonly reason: string; readonly chain?: ChainState };

/**
 * Verifies a delegation that was made by this issuer or offline; the same rules apply to both. A valid delegation that
 * is new is stored, so that it can be revoked by its id. It is valid, but not stored, if its delegator already has half
 * of the maximum number of live delegations.
 *
 * @throws StorageError
 */
export async function verifyDelegation(
  by: DelegationCaller,
  text: string,
  context: DelegationContext,
): Promise<DelegationVerdict> {
  const [authentic] = await context.agent.authenticate(by.caller, [{ token: text }]);
  if (authentic === undefined) return { valid: false, reason: "token_malformed" };
  if (!authentic.ok) return { valid: false, reason: authentic.denials[0].code };
  const { token } = authentic;
  const reading = readChain(token);
  if (!reading.ok) return { valid: false, reason: reading.reason };
  const { chain } = reading;

  const record = await context.parties.read((view) => view.delegations.get(chain.id));
  const holder = await holderOf(token.identifier, context);
  const delegator =
    holder === undefined
      ? record && (await context.agents.byId(record.delegator))
      : await context.agents.byInvoker(holder.invoker);
  const delegatee = await context.agents.byInvoker(chain.invoker);
  const now = context.clock();
  const issued = chain.delegated ?? record?.created ?? now;
  const revoked = await revocationOf(token, record, context);
  const delegatorId = delegator?.id ?? record?.delegator;
  const operations = chain.operations ?? context.agent.grants.get(chain.grant)?.operations ?? [];
  const authority = authorityOf(token);
  const state: ChainState = {
    id: chain.id,
    delegator: delegatorId,
    delegatee: delegatee?.id ?? chain.invoker,
    scopes: context.scopes.write(chain.grant, operations),
    argumentsLimited: operations.some((operation) => limitsArguments(authority, operation)),
    audience: chain.audience,
    issued,
    issuedSource: chain.delegated === undefined ? "first_seen" : "token",
    expires: chain.expires,
    revoked,
  };
  const [denial] = lifeDenials(token, authority, context);
  const reason =
    denial?.code ??
    (revoked === undefined ? undefined : "revoked") ??
    (context.agent.grants.has(chain.grant) ? undefined : "grant_denied") ??
    agentsReason(delegator, delegatee) ??
    rulesReason(chain, issued, context);
  if (reason !== undefined || delegator === undefined) {
    return { valid: false, reason: reason ?? "delegator_unknown", chain: state };
  }
  if (record === undefined) await keepSeenChain(chain, state, delegator, by.caller, context);
  return { valid: true, chain: state };
}

/**
 * Returns the earliest revocation of the delegation itself, or of a link, capability, key or principal on which its
 * token depends.
 */
async function revocationOf(
  token: AuthenticToken,
  record: DelegationRecord | undefined,
  { revocations }: DelegationContext,
): Promise<number | undefined> {
  const query = revocationQueryFor(token);
  const entries = revocations.find(query).length === 0 ? [] : await revocations.entriesOf(query);
  const moments = entries.flatMap(({ at = "" }) => parseTime(at) ?? []);
  if (record?.revoked !== undefined) moments.push(record.revoked);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

function agentsReason(
  delegator: KnownAgent | undefined,
  delegatee: KnownAgent | undefined,
): string | undefined {
  if (delegator === undefined) return "delegator_unknown";
  if (!delegator.active) return "delegator_inactive";
  return delegateeProblem(delegator, delegatee)?.code;
}

/**
 * Returns the code of the first delegation rule that a token breaks. Looks up neither agents nor stored delegations.
 */
function rulesReason(
  { grant, operations, issuedOperations, delegatedUntil, parentUntil, delegated }: Chain,
  issued: number,
  context: DelegationContext,
): string | undefined {
  const left = operationsHeld(grant, operations, context);
  const had = operationsHeld(grant, issuedOperations, context);
  if (!context.allowEqual && left.length >= had.length) return NOT_SUBSET.code;
  const seconds = (delegatedUntil - issued) / 1000;
  // A delegation may be shorter than the minimum if it has no `notBefore`, since its start is then unknown, or if it
  // ends together with the delegated capability.
  const isTooShort =
    delegated !== undefined && seconds < SHORTEST_DELEGATION && delegatedUntil < parentUntil;
  return isTooShort || seconds > LONGEST_DELEGATION ? TTL_OUT_OF_RANGE.code : undefined;
}

async function keepSeenChain(
  { revocationId, ancestors, capabilityId, principal, delegated }: Chain,
  { id, delegatee, scopes, issued, expires }: ChainState,
  { id: delegator, tenant }: KnownAgent,
  caller: Caller,
  context: DelegationContext,
): Promise<void> {
  const record: DelegationRecord = {
    id,
    tenant,
    delegator,
    delegatee,
    scopes,
    revocationId,
    ancestors,
    capabilityId,
    expires,
    principal,
    issued: delegated,
    created: delegated === undefined ? issued : context.clock(),
  };
  await keepChain(record, caller, "delegation.seen", context);
}
