// Tokens for the grants of registered agents, and calls by these agents.

import type { JsonObject } from "../bytes/json.js";
import type { Hop } from "../caveats/hop.js";
import { formatTime } from "../caveats/time.js";
import { type AgentContext, partiesOf } from "./agent-options.js";
import type { Caller, Presenter } from "./caller.js";
import type { InvocationOutcome, SkillInvocation } from "./clearance.js";
import type { KnownGrant } from "./grant.js";
import { earliestExpiry, hopText, issueCapability, recordOnce } from "./issuance.js";
import type { IssuedCapability } from "./ledger.js";
import { principalOfAgent } from "./parties/agents.js";
import { permittedCapabilities } from "./parties/grants.js";
import type { AgentGrant, AgentRecord } from "./parties/records.js";
import type { CapabilityTerm } from "./parties/terms.js";
import { MAX_PRESENTED } from "./presented.js";
import type { Recorder } from "./recorder.js";
import type { AgentDenial } from "./refusal.js";

/** A token for an agent's grant. */
export interface GrantToken {
  readonly token: string;
  /** The expiry of the token, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string;
}

/** A call of a capability by a registered agent. */
export interface GrantExecution {
  /** The authenticated agent. */
  readonly agent: AgentRecord;
  /** The id of the skill to call. */
  readonly capability: string;
  readonly arguments: JsonObject;
  /** The presented token; without one, the agent's stored grants are used. */
  readonly presented?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An active grant whose agent and host are active too. */
interface LiveGrant {
  readonly record: AgentGrant;
  /** The issuing agent's grant. */
  readonly grant: KnownGrant;
  readonly agent: AgentRecord;
  readonly caller: Caller;
  readonly term: CapabilityTerm;
}

/** @see IssuingAgent.grantToken */
export async function grantToken(
  id: string,
  context: AgentContext,
  recorder: Recorder,
): Promise<GrantToken | undefined> {
  const live = await liveGrant(id, context);
  if (live === undefined) return undefined;
  const limits = await policyHops(live, context);
  return limits && issueToken(live, limits, context, recorder);
}

/** Returns the hops for the policy's limits on a grant; `undefined` if the policy does not permit the grant. */
async function policyHops(
  { caller: { principal, invoker }, term }: LiveGrant,
  context: AgentContext,
): Promise<readonly Hop[] | undefined> {
  const permitted = await permittedCapabilities(principal, invoker, [term], context);
  return permitted.get(term.name);
}

async function liveGrant(id: string, context: AgentContext): Promise<LiveGrant | undefined> {
  const parties = partiesOf(context);
  const record = await parties.grant(id);
  const agent = record === undefined ? undefined : await parties.agent(record.agent);
  if (record?.status !== "active" || agent?.status !== "active") return undefined;
  const caller = await callerOf(agent, context);
  // The capability may have been removed, or may belong to another grant now.
  const term = parties.terms?.get(record.capability);
  if (term?.grant !== record.grant || term.operation !== record.operation) return undefined;
  const grant = context.grants.get(record.grant);
  if (caller === undefined || !grant?.operations.includes(record.operation)) return undefined;
  return { record, grant, agent, caller, term };
}

/** Returns a registered agent as a caller, with its own id as the invoker; `undefined` if its host is not active. */
async function callerOf(agent: AgentRecord, context: AgentContext): Promise<Caller | undefined> {
  const host = await partiesOf(context).host(agent.host);
  if (host === undefined || host.status !== "active") return undefined;
  return { principal: principalOfAgent(agent, host), invoker: agent.id };
}

/**
 * Issues the capability of an agent's grant. The capability always has the same id, and only its first issuance
 * is recorded. Tokens are short-lived; the record lasts as long as the grant.
 *
 * @param limits - The hops for the policy's limits. `undefined` if the policy does not permit the grant: the token is
 *   then not recorded, since it must not leave this agent, and the record would lack the limits.
 * @returns `undefined` if the grant or the agent has expired, the grant was revoked, or the token would be too large.
 * @throws StorageError if the issuance cannot be recorded.
 */
async function issueToken(
  { record, grant, agent, caller, term }: LiveGrant,
  limits: readonly Hop[] | undefined,
  context: AgentContext,
  recorder: Recorder,
): Promise<GrantToken | undefined> {
  const now = context.clock();
  const ends = [record.expires, agent.expires].filter((end) => end !== undefined);
  const expires = earliestExpiry([now + context.lifetime * 1000, ...ends], now, context);
  if (expires <= formatTime(now)) return undefined;
  // The grant may have been revoked while the policy was asked. A token issued after the revocation would not
  // be affected.
  if (partiesOf(context).isRevoked(record)) return undefined;
  const { capabilityId: id, operation, purpose } = record;
  const further = [...(limits ?? []), ...record.hops.map(({ hop }) => hop)];
  const contents = { id, service: term.location, grant, operations: [operation], further, expires };
  const issued = issueCapability(contents, new Map(), caller, context);
  if (!issued.ok) return undefined;
  const { ledger } = context;
  if (limits !== undefined && (await ledger.issued(id)) === undefined) {
    const lasting = formatTime(record.expires ?? now + context.issuer.maxLifetime * 1000);
    const shortLived: Hop = JSON.parse(issued.kept.hop);
    const hop = hopText({ ...shortLived, expires: lasting });
    const kept: IssuedCapability = { ...issued.kept, hop, expires: lasting };
    const event = { id, grant: grant.id };
    await recordOnce(kept, () => recorder.issued(caller, [event], [kept], purpose, 0), ledger);
  }
  const { token, expires: end } = issued.granted;
  return { token, expires: end };
}

/** @see IssuingAgent.executeGrant */
export async function executeGrant(
  { agent: { id }, capability, arguments: given, presented }: GrantExecution,
  context: AgentContext,
  recorder: Recorder,
  invoke: (caller: Caller, invocation: SkillInvocation) => Promise<InvocationOutcome>,
): Promise<InvocationOutcome> {
  const parties = partiesOf(context);
  const refuse = (denial: AgentDenial, caller: Presenter = { invoker: id }): InvocationOutcome => {
    recorder.refused("invocation", caller, [denial]);
    return { ok: false, denials: [denial] };
  };
  // Read the agent again: it may have been revoked since it was authenticated.
  const agent = await parties.agent(id);
  const caller = agent?.status === "active" ? await callerOf(agent, context) : undefined;
  if (caller === undefined) return refuse(missingGrant(capability));
  if (parties.terms?.get(capability)?.location !== undefined) {
    return refuse(runsElsewhere(capability), caller);
  }
  const tokens: { readonly token: string; readonly grant?: string }[] = [];
  if (presented !== undefined) tokens.push({ token: presented });
  else {
    for (const record of await parties.grantsOf(id)) {
      if (record.capability !== capability || tokens.length === MAX_PRESENTED) continue;
      const live = await liveGrant(record.id, context);
      if (live === undefined) continue;
      // If the policy does not permit the grant, `invoke` refuses the call.
      const made = await issueToken(live, await policyHops(live, context), context, recorder);
      if (made !== undefined) tokens.push({ token: made.token, grant: record.id });
    }
  }
  if (tokens.length === 0) return refuse(missingGrant(capability), caller);
  const capabilities = tokens.map((one) => ({ token: one.token }));
  const outcome = await invoke(caller, { skill: capability, arguments: given, capabilities });
  const [only, ...others] = tokens;
  await parties.used(id, outcome.ok && others.length === 0 ? only?.grant : undefined);
  return outcome;
}

/** Returns the denial of a capability for which the agent has no active grant. */
function missingGrant(capability: string): AgentDenial {
  const message = `the agent has no active grant of "${capability.slice(0, 64)}"; request one first`;
  return { code: "capability_missing", rule: "grants", message };
}

/** Returns the denial of a capability that another service runs. */
function runsElsewhere(capability: string): AgentDenial {
  const message = `"${capability.slice(0, 64)}" is run by another service, at its location`;
  return { code: "audience_denied", rule: "location", message };
}
