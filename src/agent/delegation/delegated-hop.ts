import { quotedName } from "../../bytes/json.js";
import { TokenError } from "../../bytes/token-error.js";
import type { Extension } from "../../capability/extend.js";
import { formatTime, parseTime } from "../../caveats/time.js";
import { suggestions } from "../../checks/nearest.js";
import { chainIdOf } from "../../revocation/id.js";
import type { DelegationRecord } from "../parties/records.js";
import type { KnownAgent } from "./agents.js";
import { keepChain, mostChains } from "./chain-records.js";
import { type DelegationCaller, type Holding, holdingOf, narrowedLink } from "./holdings.js";
import type { DelegationContext } from "./options.js";
import {
  type DelegationProblem,
  type DelegationRefusal,
  delegationProblem,
  delegationRefusal,
} from "./refusal.js";

/** A delegator's request. */
export interface DelegationRequest {
  /** The id of the agent that is to get the capability. */
  readonly delegatee: string;
  /** At least one scope: `GRANT` or `GRANT:OPERATION`. */
  readonly scopes: readonly string[];
  /** Lifetime in seconds, from 60 to 86,400. The delegation is shorter if the delegated capability expires earlier. */
  readonly ttl: number;
}

/** A new delegation. */
export interface Delegation {
  readonly ok: true;
  /** The delegated capability. Only the delegatee can use it. */
  readonly token: string;
  readonly record: DelegationRecord;
}

/** The shortest lifetime of a delegation, in seconds. */
export const SHORTEST_DELEGATION = 60;

export const LONGEST_DELEGATION = 86_400;

// A request can name any number of scopes, so limit the number of reported problems.
const MOST_TOLD = 16;

/**
 * Appends one hop to the capability, and stores the delegation.
 *
 * @throws StorageError; then nothing was delegated.
 */
export async function delegate(
  by: DelegationCaller,
  request: DelegationRequest,
  context: DelegationContext,
): Promise<Delegation | DelegationRefusal> {
  const found = await holdingOf(by, context);
  if (!found.ok) return found;
  const { holding } = found;
  const delegator = await context.agents.byInvoker(holding.holder.invoker);
  if (delegator === undefined) return delegationRefusal("delegator_unknown", UNKNOWN_DELEGATOR);
  if (!delegator.active) return delegationRefusal("delegator_inactive", INACTIVE_DELEGATOR);

  const now = Math.floor(context.clock() / 1000) * 1000;
  const asked = scopesAsked(request.scopes, holding, context);
  const [first, ...more] = [
    ...asked.problems,
    ...(isTimeToLive(request.ttl) ? [] : [TTL_OUT_OF_RANGE]),
    ...(request.delegatee === delegator.id ? [DELEGATEE_IS_DELEGATOR] : []),
  ];
  if (first !== undefined) return { ok: false, problems: [first, ...more] };
  const delegatee = await context.agents.byId(request.delegatee);
  const refused = delegateeProblem(delegator, delegatee);
  if (refused !== undefined || delegatee === undefined) {
    return { ok: false, problems: [refused ?? DELEGATEE_UNKNOWN] };
  }

  const end = parseTime(holding.authority.expires ?? "") ?? Number.POSITIVE_INFINITY;
  const expires = Math.min(now + request.ttl * 1000, end);
  const hop = {
    operations: asked.operations,
    invokers: [delegatee.invoker],
    notBefore: formatTime(now),
    expires: formatTime(expires),
  };
  let child: Extension;
  try {
    child = context.agent.issuer.extend(holding.token, hop);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return delegationRefusal("capability_full", error.message, "capability");
  }
  if (!child.ok) {
    const [{ message } = { message: "nothing would be left" }] = child.overreaches;
    return delegationRefusal("capability_sealed", message, "capability");
  }
  const { revocationId, token, authentic } = child;
  const { id: capabilityId, grant, principal } = holding.token.identifier;
  const record: DelegationRecord = {
    id: chainIdOf(revocationId),
    tenant: delegator.tenant,
    delegator: delegator.id,
    delegatee: delegatee.id,
    scopes: context.scopes.write(grant, asked.operations),
    revocationId,
    capabilityId,
    issued: now,
    expires,
    created: context.clock(),
    ancestors: authentic.chains[0].revocationIds.slice(0, -1),
    principal,
  };
  const narrowed = await narrowedLink(by, context);
  const isKept = await keepChain(record, holding.holder, "delegation.made", context, narrowed);
  return isKept ? { ok: true, token, record } : tooManyDelegations(context, narrowed);
}

/** Resolves the requested scopes to operations that the delegator has, and collects the problems. */
function scopesAsked(
  scopes: readonly string[],
  { token, authority }: Holding,
  context: DelegationContext,
): { readonly operations: readonly string[]; readonly problems: readonly DelegationProblem[] } {
  const { grant } = token.identifier;
  const held = operationsHeld(grant, authority.operations, context);
  const operations = new Set<string>();
  const problems: DelegationProblem[] = [];
  const suggest = suggestions();
  for (const scope of new Set(scopes)) {
    if (problems.length === MOST_TOLD) break;
    const meaning = context.scopes.read(scope);
    if (meaning === undefined) {
      const message = `there is no scope ${quotedName(scope)}${context.scopes.hint(scope, suggest)}`;
      problems.push(delegationProblem("scope_unknown", message, "scopes"));
    } else if (
      meaning.grant !== grant ||
      meaning.operations.some((operation) => !held.includes(operation))
    ) {
      const own = context.scopes.write(grant, held);
      const shown = `${own.slice(0, MOST_TOLD).join(", ")}${own.length > MOST_TOLD ? ", …" : ""}`;
      const message = `the delegator does not have the scope ${quotedName(scope)}; it has ${shown}`;
      problems.push(delegationProblem("scope_not_held", message, "scopes"));
    } else for (const operation of meaning.operations) operations.add(operation);
  }
  if (problems.length === 0 && !context.allowEqual && operations.size === held.length) {
    problems.push(NOT_SUBSET);
  }
  return { operations: [...operations].sort(), problems };
}

/** Returns the operations of a grant that a capability allows. */
export function operationsHeld(
  grant: string,
  left: readonly string[] | undefined,
  { agent }: DelegationContext,
): readonly string[] {
  const known = agent.grants.get(grant)?.operations ?? [];
  return left === undefined ? known : known.filter((operation) => left.includes(operation));
}

function isTimeToLive(ttl: number): boolean {
  return Number.isInteger(ttl) && ttl >= SHORTEST_DELEGATION && ttl <= LONGEST_DELEGATION;
}

/** Returns why one agent cannot delegate to another; `undefined` if it can. */
export function delegateeProblem(
  { id, tenant }: KnownAgent,
  delegatee: KnownAgent | undefined,
): DelegationProblem | undefined {
  if (delegatee === undefined) return DELEGATEE_UNKNOWN;
  if (delegatee.id === id) return DELEGATEE_IS_DELEGATOR;
  if (delegatee.tenant !== tenant) return TENANT_MISMATCH;
  return delegatee.active ? undefined : DELEGATEE_INACTIVE;
}

const UNKNOWN_DELEGATOR =
  "the agent that the capability was issued to is neither registered nor listed here";

const INACTIVE_DELEGATOR = "the delegator is registered here, but not active";

/** The problem of requesting all scopes that the delegator has. */
export const NOT_SUBSET: DelegationProblem = delegationProblem(
  "scope_not_subset",
  "the scopes are all that the delegator has; delegate fewer, since a strict subset is demanded",
  "scopes",
);

/** The problem of a lifetime outside the allowed range. */
export const TTL_OUT_OF_RANGE: DelegationProblem = delegationProblem(
  "ttl_out_of_range",
  `the time to live must be ${SHORTEST_DELEGATION} to ${LONGEST_DELEGATION} whole seconds`,
  "ttl",
);

const DELEGATEE_IS_DELEGATOR = delegationProblem(
  "delegatee_is_delegator",
  "an agent cannot delegate to itself",
  "delegatee",
);

const DELEGATEE_UNKNOWN = delegationProblem(
  "delegatee_unknown",
  "there is no agent of this id: it is neither registered nor listed here",
  "delegatee",
);

const DELEGATEE_INACTIVE = delegationProblem(
  "delegatee_inactive",
  "the delegatee is registered here, but not active",
  "delegatee",
);

const TENANT_MISMATCH = delegationProblem(
  "tenant_mismatch",
  "delegator and delegatee belong to different tenants",
  "delegatee",
);

function tooManyDelegations(
  { maxDelegations }: DelegationContext,
  narrowed: string | undefined,
): DelegationRefusal {
  const most = mostChains(maxDelegations, narrowed !== undefined);
  const message = `${most} delegations of this delegator are alive, the maximum${narrowed === undefined ? "" : " for narrowed capabilities"}; wait until one expires`;
  return delegationRefusal("too_many_delegations", message);
}
