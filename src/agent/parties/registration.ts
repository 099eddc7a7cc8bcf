// Registrations of agents and their hosts.

import { keepAgentAnswer } from "./agent-approvals.js";
import { activatedAgent, autonomousPrincipal, currentAgent } from "./agents.js";
import {
  keepRepeatedAnswer,
  outcomeOf,
  type RepeatableRequest,
  repeatableRequest,
  repeatedAnswer,
} from "./answers.js";
import { newId, type PartiesContext } from "./context.js";
import { partyEvent } from "./events.js";
import {
  ENDED_KEPT,
  forgetGrants,
  initialStatus,
  newGrant,
  type PermittedCapabilities,
  permittedCapabilities,
  removeGrants,
} from "./grants.js";
import { COUNTED_MS, currentDefaults, hostWithKey, isUsersHost, knownOrNewHost } from "./hosts.js";
import type { AgentMode, AgentRecord, HostRecord } from "./records.js";
import { type Outcome, throwRefusal } from "./refusals.js";
import { type AskedAnswer, checkTexts, type Registration, readAsked } from "./requests.js";
import { everyRecord, type PartyDraft, type PartyView } from "./store.js";

/** Values that a registration needs and that are determined before the transaction. */
interface RegistrationFacts {
  /** The stored mode if an agent with this key is pending; otherwise the requested mode. */
  readonly mode: AgentMode;
  readonly ids: { readonly host: string; readonly agent: string };
  readonly principal: string | undefined;
  readonly permitted: PermittedCapabilities;
  readonly repeat: RepeatableRequest;
}

/** @see Parties.register */
export async function registerAgent(
  asked: Registration,
  context: PartiesContext,
): Promise<Outcome<AskedAnswer>> {
  const asker = { thumbprint: asked.hostThumbprint };
  const about = { asker, purpose: asked.purpose?.slice(0, 512) };
  return outcomeOf("agent.registered", about, context, async () => {
    const { settings, store } = context;
    checkTexts(asked);
    if (!settings.modes.includes(asked.mode)) {
      throwRefusal("unsupported_mode", `this server has no agents that are ${asked.mode}`);
    }
    const { idempotencyKey, from: _, ...request } = asked;
    const repeat = repeatableRequest(asked.hostThumbprint, idempotencyKey, request, context);
    // Retry if the facts changed meanwhile, for example because another registration linked the host to a user.
    for (;;) {
      const facts = await registrationFacts(asked, repeat, context);
      const answer = await store.change((draft) => registerAgentIn(draft, asked, facts, context));
      if (answer !== undefined) return answer;
    }
  });
}

async function registrationFacts(
  asked: Registration,
  repeat: RepeatableRequest,
  context: PartiesContext,
): Promise<RegistrationFacts> {
  const { host, agents } = await context.store.read(async (view) => {
    const host = await hostWithKey(view, asked.hostThumbprint);
    return { host, agents: host === undefined ? [] : await agentsOf(view, host) };
  });
  const mode = registeredMode(asked, agents);
  const ids = { host: host?.id ?? newId("host", context), agent: newId("agent", context) };
  const alone = mode === "autonomous" ? autonomousPrincipal(ids.host) : undefined;
  const principal = host?.principal ?? alone;
  const terms = readAsked(asked.capabilities ?? [], context).map(({ term }) => term);
  const permitted = await permittedCapabilities(principal, ids.agent, terms, context);
  return { mode, ids, principal, permitted, repeat };
}

function agentsOf(view: PartyView, host: HostRecord): Promise<readonly AgentRecord[]> {
  return everyRecord(view.agents, { host: host.id });
}

/** Returns the requested mode, or the first mode of a pending agent that registers again. */
function registeredMode(asked: Registration, agents: readonly AgentRecord[]): AgentMode {
  const same = agents.find((agent) => hasKey(agent, asked));
  return same?.status === "pending" ? same.mode : asked.mode;
}

function hasKey({ thumbprint, unproven }: AgentRecord, asked: Registration): boolean {
  return thumbprint === asked.agentThumbprint && unproven !== true;
}

async function registerAgentIn(
  draft: PartyDraft,
  given: Registration,
  facts: RegistrationFacts,
  context: PartiesContext,
): Promise<AskedAnswer | undefined> {
  const asked = { ...given, mode: facts.mode };
  const alone = facts.mode === "autonomous";
  const seen = await hostWithKey(draft, asked.hostThumbprint);
  // Read and write the host first. Every later read is then at least as new, and a concurrent change of the
  // host or its agents causes a conflict.
  if (seen !== undefined) await draft.put("hosts", seen);
  const before = await repeatedAnswer(draft, facts.repeat, context);
  if (before !== undefined) return before;
  const agents = seen === undefined ? [] : await agentsOf(draft, seen);
  if (registeredMode(given, agents) !== facts.mode) return undefined;
  const host = await knownOrNewHost(draft, seen, asked, { id: facts.ids.host, alone }, context);
  if (alone && host.principal !== undefined) {
    throwRefusal("unsupported_mode", "the host is linked to a user: its agents act for that user");
  }
  if (host.id !== facts.ids.host) return undefined;
  const principal = host.principal ?? (alone ? autonomousPrincipal(host.id) : undefined);
  if (principal !== facts.principal) return undefined;
  await draft.put("hosts", host);
  const known = await agentWithKey(draft, agents, asked, context);
  const agent = known ?? newAgent(asked, host, facts.ids.agent, context);
  const waiting =
    known === undefined ? undefined : await answerWhileWaiting(draft, host, known, context);
  if (known !== undefined && waiting === undefined) {
    // A pending agent can send another request after each request has ended; remove old grants.
    const grants = await everyRecord(draft.grants, { agent: known.id });
    await forgetGrants(draft, grants, context.clock());
  }
  const answer = waiting ?? (await keepNewAgent(draft, asked, host, agent, facts, context));
  // A pending agent of an unlinked host can register any number of times under new idempotency keys. Such
  // answers must not fill the table of answers.
  if (waiting === undefined || isUsersHost(host)) {
    await keepRepeatedAnswer(draft, facts.repeat, answer, context);
  }
  return answer;
}

/**
 * Returns the answer to a pending agent that registers again, with the open approval; `undefined` if no approval is
 * open.
 */
async function answerWhileWaiting(
  draft: PartyDraft,
  host: HostRecord,
  agent: AgentRecord,
  { approvals, clock }: PartiesContext,
): Promise<AskedAnswer | undefined> {
  const waiting = { agent: agent.id, state: "pending" } as const;
  for (const one of await draft.approvals.find(waiting)) await approvals.settleIn(draft, one);
  const [open] = await draft.approvals.find({ ...waiting, openAt: clock(), limit: 1 });
  if (open === undefined) return undefined;
  const grants = await draft.grants.find({ agent: agent.id });
  return { host, agent, grants, ...(await approvals.reopened(draft, open)) };
}

async function keepNewAgent(
  draft: PartyDraft,
  asked: Registration,
  host: HostRecord,
  given: AgentRecord,
  { permitted }: RegistrationFacts,
  context: PartiesContext,
): Promise<AskedAnswer> {
  const now = context.clock();
  const { purpose } = asked;
  const wanted = readAsked(asked.capabilities ?? [], context);
  const defaults = currentDefaults(host, context);
  const granting = { host, agent: given, defaults, permitted };
  const made = wanted.map((one) =>
    newGrant(one, granting, initialStatus(one.term, granting), purpose, context),
  );
  // A delegated agent of an unlinked host waits for an approval, even if it asks for no capability.
  const unlinked = asked.mode === "delegated" && host.principal === undefined;
  const needsApproval =
    unlinked || host.status !== "active" || made.some(({ status }) => status === "pending");
  const agent: AgentRecord = needsApproval ? given : activatedAgent(given, host, now, context);
  const about = { record: agent.id, agent: agent.id, principal: host.principal, purpose };
  const event = partyEvent("agent.registered", now, about);
  const answer = { host, agent, grants: made };
  return keepAgentAnswer(draft, answer, needsApproval ? asked : undefined, event, context);
}

/** Returns the host's pending agent that has this key; `undefined` if no agent has it. Removes surplus ended agents. */
async function agentWithKey(
  draft: PartyDraft,
  kept: readonly AgentRecord[],
  asked: Registration,
  context: PartiesContext,
): Promise<AgentRecord | undefined> {
  await forgetAgents(draft, kept);
  const agents = kept.map((agent) => currentAgent(agent, context));
  const same = agents.find((agent) => hasKey(agent, asked));
  if (same?.status === "pending") return same;
  if (same !== undefined) {
    throwRefusal("agent_exists", "an agent of this host has this key, or had it; make a new one");
  }
  const since = context.clock() - COUNTED_MS;
  const counted = agents.filter(
    ({ status, created }) => !ENDED.includes(status) || created > since,
  );
  if (counted.length < context.settings.bounds.agentsPerHost) return undefined;
  return throwRefusal(
    "limit_exceeded",
    `the host already has ${counted.length} agents that are live or less than an hour old, the maximum`,
  );
}

const ENDED: readonly string[] = ["revoked", "rejected", "claimed"];

function newAgent(
  { agentKey: key, agentThumbprint: thumbprint, name, mode }: Registration,
  host: HostRecord,
  id: string,
  { settings, clock }: PartiesContext,
): AgentRecord {
  const now = clock();
  return {
    id,
    host: host.id,
    tenant: settings.tenant,
    name,
    mode,
    status: "pending",
    key,
    thumbprint,
    created: now,
    updated: now,
  };
}

/**
 * Maximum number of agents that one transaction removes. Each agent may have up to {@link ENDED_KEPT} ended
 * grants, which are removed with it.
 */
const AGENTS_AT_ONCE = 2;

/**
 * Removes a host's oldest ended agents with all their records, if there are more than {@link ENDED_KEPT}.
 *
 * @param all - The host's agents, as read in this transaction.
 */
async function forgetAgents(draft: PartyDraft, all: readonly AgentRecord[]): Promise<void> {
  const ended = all
    .filter(({ status }) => ENDED.includes(status))
    .sort((a, b) => a.updated - b.updated);
  const surplus = Math.max(0, ended.length - ENDED_KEPT);
  for (const agent of ended.slice(0, Math.min(AGENTS_AT_ONCE, surplus))) {
    const grants = await everyRecord(draft.grants, { agent: agent.id });
    await removeGrants(draft, grants, grants);
    await draft.remove("agents", agent);
  }
}
