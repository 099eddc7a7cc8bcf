import type { JsonObject } from "../bytes/json.js";
import { formatTime } from "../caveats/time.js";
import type { AgentContext } from "./agent-options.js";
import type { Caller, Presenter } from "./caller.js";
import type { SkillInvocation } from "./clearance.js";
import type { IssuedCapability } from "./ledger.js";
import { hopTexts, madeToken } from "./made-token.js";
import type { InvocationOutcome } from "./outcomes.js";
import { known } from "./pending.js";
import { MAX_PRESENTED } from "./presented.js";
import type { AgentDenial } from "./refusal.js";
import { permittedOf, principalOfAgent } from "./registry/granting.js";
import type { AgentGrant, AgentRecord } from "./registry/records.js";
import type { CapabilityTerm } from "./registry/terms.js";

/** A token of an agent grant. */
export interface GrantToken {
  readonly token: string;
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string;
}

/** A call of a capability by an agent of the registry. */
export interface GrantExecution {
  /** As it has proved to be. */
  readonly agent: AgentRecord;
  /** A skill's id. */
  readonly capability: string;
  readonly arguments: JsonObject;
  /** The token that it presents; without one, what it was granted is judged. */
  readonly presented?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The denial of a call of what an agent has no active grant of. */
function missingGrant(capability: string): AgentDenial {
  const message = `the agent has no active grant of "${capability.slice(0, 64)}"; request one first`;
  return { code: "capability_missing", rule: "grants", message };
}

/** The denial of a call of what another service runs. */
function runsElsewhere(capability: string): AgentDenial {
  const message = `"${capability.slice(0, 64)}" is run by another service, at its location`;
  return { code: "audience_denied", rule: "location", message };
}

/** How an agent of the registry calls: on behalf of its user, under its own id. */
async function callerOf(agent: AgentRecord, context: AgentContext): Promise<Caller | undefined> {
  const host = await known(context.registry).host(agent.host);
  if (host === undefined || host.status !== "active") return undefined;
  return { principal: principalOfAgent(agent, host), invoker: agent.id };
}

/** What a grant's capability is now; `undefined` where it was removed, or is under another grant now. */
function termOf(
  { capability, grant, operation }: AgentGrant,
  { registry, grants }: Pick<AgentContext, "registry" | "grants">,
): CapabilityTerm | undefined {
  const term = known(registry).terms?.get(capability);
  const same = term?.grant === grant && term.operation === operation;
  return same && grants.get(grant)?.operations.includes(operation) === true ? term : undefined;
}

/** Records the capability of a grant, the first time. */
export type KeepGrant = (
  caller: Caller,
  kept: IssuedCapability,
  grant: AgentGrant,
) => Promise<void>;

/**
 * A token of a grant, made anew: the same capability id, the issuer's hop, a hop for each party that demanded
 * something; for a location's service alone where there is one.
 *
 * @returns `undefined` unless grant, agent and host are active, the capability is kept, and the policy permits
 *   it now.
 * @throws StorageError if it cannot be recorded.
 */
export async function grantToken(
  id: string,
  context: AgentContext,
  keep: KeepGrant,
): Promise<GrantToken | undefined> {
  const live = await liveGrant(id, context);
  if (live === undefined) return undefined;
  const { caller, term } = live;
  const permitted = await permittedOf(caller.principal, caller.invoker, [term], context);
  return permitted.has(term.name) ? makeToken(live, context, keep) : undefined;
}

/** A grant that is active, as its agent and host are. */
interface LiveGrant {
  readonly grant: AgentGrant;
  readonly agent: AgentRecord;
  readonly caller: Caller;
  readonly term: CapabilityTerm;
}

async function liveGrant(id: string, context: AgentContext): Promise<LiveGrant | undefined> {
  const registry = known(context.registry);
  const grant = await registry.grant(id);
  const agent = grant === undefined ? undefined : await registry.agent(grant.agent);
  if (grant?.status !== "active" || agent?.status !== "active") return undefined;
  const caller = await callerOf(agent, context);
  const term = termOf(grant, context);
  if (caller === undefined || term === undefined) return undefined;
  return { grant, agent, caller, term };
}

async function makeToken(
  { grant, agent, caller, term }: LiveGrant,
  context: AgentContext,
  keep: KeepGrant,
): Promise<GrantToken | undefined> {
  const { issuer, grants, lifetime } = context;
  const now = context.clock();
  const ends = [grant.expires, agent.expires].filter((end) => end !== undefined);
  const expires = formatTime(Math.min(now + lifetime * 1000, ...ends));
  if (expires <= formatTime(now)) return undefined;
  // It may have been revoked while the policy was asked, and a new token would be of a later moment.
  if (known(context.registry).isRevoked(grant)) return undefined;
  const further = hopTexts(grant.hops.map(({ hop }) => hop));
  const { capability, identifier } = issuer.issue(
    () => ({
      ...{
        grant: grant.grant,
        principal: caller.principal,
        operations: [grant.operation],
        expires,
      },
      // Sealed after what agent, server and approvers took away.
      ...(grants.get(grant.grant)?.attenuable === false ? { maxFurtherHops: further.length } : {}),
    }),
    { id: grant.capabilityId, service: term.location },
  );
  const [hop = ""] = hopTexts([capability.hop]);
  const made = madeToken(issuer, { identifier, hop, further });
  if (made === undefined) return undefined;
  const issuedBefore = await context.ledger.issued(grant.capabilityId);
  if (issuedBefore === undefined) {
    const lasting = formatTime(grant.expires ?? now + issuer.maxLifetime * 1000);
    const [whole = ""] = hopTexts([{ ...capability.hop, expires: lasting }]);
    const kept: IssuedCapability = {
      ...{ id: grant.capabilityId, identifier, hop: whole, ...caller, expires: lasting },
      ...(further.length === 0 ? {} : { further }),
    };
    try {
      await keep(caller, kept, grant);
    } catch (error) {
      // Another call may have recorded it at the same time.
      if ((await context.ledger.issued(grant.capabilityId)) === undefined) throw error;
    }
  }
  return { token: made.token, expires: made.authority.expires ?? expires };
}

/** What an execution is made of: the methods of the agent. */
interface Execution {
  readonly keep: KeepGrant;
  readonly refused: (caller: Presenter, denial: AgentDenial) => void;
  readonly invoke: (caller: Caller, invocation: SkillInvocation) => Promise<InvocationOutcome>;
}

/** @see IssuingAgent.executeGrant */
export async function executeGrant(
  { agent: { id }, capability, arguments: given, presented }: GrantExecution,
  context: AgentContext,
  { keep, refused, invoke }: Execution,
): Promise<InvocationOutcome> {
  const registry = known(context.registry);
  const refuse = (denial: AgentDenial, caller: Presenter = { invoker: id }): InvocationOutcome => {
    refused(caller, denial);
    return { ok: false, denials: [denial] };
  };
  // As it is now: it may have been revoked since it proved to be that agent.
  const agent = await registry.agent(id);
  const caller = agent?.status === "active" ? await callerOf(agent, context) : undefined;
  if (caller === undefined) return refuse(missingGrant(capability));
  if (registry.terms?.get(capability)?.location !== undefined) {
    return refuse(runsElsewhere(capability), caller);
  }
  const tokens: { readonly token: string; readonly grant?: string }[] = [];
  if (presented !== undefined) tokens.push({ token: presented });
  else {
    for (const grant of await registry.grantsOf(id)) {
      if (grant.capability !== capability || tokens.length === MAX_PRESENTED) continue;
      const live = await liveGrant(grant.id, context);
      // The policy is asked by the call itself, which says what it refuses.
      const made = live === undefined ? undefined : await makeToken(live, context, keep);
      if (made !== undefined) tokens.push({ token: made.token, grant: grant.id });
    }
  }
  if (tokens.length === 0) return refuse(missingGrant(capability), caller);
  const capabilities = tokens.map((one) => ({ token: one.token }));
  const outcome = await invoke(caller, { skill: capability, arguments: given, capabilities });
  const [only, ...others] = tokens;
  await registry.used(id, outcome.ok && others.length === 0 ? only?.grant : undefined);
  return outcome;
}
