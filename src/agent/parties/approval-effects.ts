// Effects of decided approvals: grants become active or denied, hosts are linked, agents are taken over.

import { activatedAgent, currentAgent, hostedAgent, withWithheld } from "./agents.js";
import { type DecisionRefusal, refuseDecision } from "./approval-decisions.js";
import { type ApprovedGrant, causeWords, principalOf, resultOf } from "./approval-results.js";
import type { ApprovalEffect, ApprovalEffects } from "./approval-settlement.js";
import type { PartiesContext } from "./context.js";
import { type Actor, partyEvent } from "./events.js";
import {
  type Change,
  endGrants,
  grantExpiry,
  isGrantOffered,
  keepGrant,
  NOT_OFFERED,
  POLICY_DENIES,
  permittedCapabilities,
} from "./grants.js";
import { mergedWithEnrolled } from "./hosts.js";
import type {
  AgentGrant,
  AgentRecord,
  AgentStatus,
  Approval,
  ApprovalState,
  HostRecord,
} from "./records.js";
import { everyRecord, type PartyDraft } from "./store.js";

type Context = Omit<PartiesContext, "approvals">;

/** Returns the effects of approvals about agents. They are applied in the transaction that settles the approval. */
export function agentApprovalEffects(context: Context): ApprovalEffects {
  return { "agent-grants": grantsEffect(context), "agent-claim": claimEffect(context) };
}

function grantsEffect(context: Context): ApprovalEffect {
  return {
    // Ask the policy again: this approval may determine the principal.
    prepare: async (settled) => {
      const { asked, agent } = settled.subject;
      const terms = asked.map(({ name = "", grant, operations: [operation = ""] }) => ({
        name,
        grant,
        operation,
      }));
      return permittedCapabilities(principalOf(settled), agent.id, terms, context);
    },
    objection: (draft, decided) => objectionTo(draft, decided, LIVING_STATUSES, context),
    apply: (draft, settled, now, facts, by) =>
      settled.state === "approved" && facts instanceof Map
        ? activateGrants(draft, settled, facts, { by, now }, context)
        : denyGrants(draft, settled, { by, now }, context),
  };
}

/**
 * Refuses an approval if the agent or its host has ended, or if the host is now linked to another user.
 *
 * @param statuses - The statuses of an agent in which approving has an effect.
 */
async function objectionTo(
  draft: PartyDraft,
  decided: Approval,
  statuses: readonly AgentStatus[],
  context: Context,
): Promise<DecisionRefusal | undefined> {
  const found = await hostedAgent(draft, decided.subject.agent.id);
  if (found === undefined || found.host.status === "revoked") {
    return refuseDecision("agent_ended", "the agent or its host has been revoked");
  }
  const { status } = currentAgent(found.agent, context);
  if (!statuses.includes(status)) {
    return refuseDecision("agent_ended", `the agent can no longer get it: it is ${status}`);
  }
  const principal = principalOf(decided);
  const { principal: owner = principal } = found.host;
  if (principal === undefined || owner === principal) return undefined;
  const message =
    "the agent's host has been linked to another user, for whom its agents act; nothing was granted";
  return refuseDecision("host_taken", message);
}

async function activateGrants(
  draft: PartyDraft,
  settled: Approval,
  permitted: ReadonlyMap<unknown, unknown>,
  { by, now }: Change,
  context: Context,
): Promise<void> {
  const { subject } = settled;
  const principal = principalOf(settled);
  const { operator } = by;
  const found = await hostedAgent(draft, subject.agent.id);
  if (found === undefined || principal === undefined) return;
  const agent = currentAgent(found.agent, context);
  const linked = await linkHost(draft, found.host, principal, { by, now }, context);
  const results = resultOf(settled, now);
  const refused = results.flatMap(({ granted, asked: { name = "" } }) => (granted ? [] : [name]));
  const owner = agent.status === "pending" ? activatedAgent(agent, linked, now, context) : agent;
  await draft.put("agents", withWithheld(owner, refused));
  if (agent.status === "pending") {
    const about = { record: agent.id, agent: agent.id, principal, operator };
    draft.note(partyEvent("agent.activated", now, about));
  }
  for (const result of results) {
    const grant = await draft.grants.get(result.asked.agentGrant ?? "");
    if (grant?.status !== "pending") continue;
    const { granted, reason = "denied" } = result;
    const why = !granted
      ? reason
      : !permitted.has(grant.capability)
        ? POLICY_DENIES
        : isGrantOffered(grant, context)
          ? undefined
          : NOT_OFFERED;
    const after: AgentGrant =
      why === undefined
        ? activeGrant(grant, result, settled, principal, now)
        : { ...grant, status: "denied", reason: why, updated: now };
    await keepGrant(draft, after, { principal, operator }, now);
  }
}

function activeGrant(
  grant: AgentGrant,
  { hops }: ApprovedGrant,
  { subject, decisions }: Approval,
  principal: string,
  now: number,
): AgentGrant {
  const own = hops.map(({ who, hop }) => ({ by: "approver" as const, who, hop }));
  const all = [...grant.hops, ...own];
  const by = decisions.at(-1)?.approver;
  return {
    ...grant,
    status: "active",
    principal,
    hops: all,
    updated: now,
    expires: grantExpiry(all, now, subject.lifetime),
    ...(by === undefined ? {} : { grantedBy: by }),
  };
}

/** Denies the grants that wait for the approval. If people denied a registration, the agent is rejected too. */
async function denyGrants(
  draft: PartyDraft,
  settled: Approval,
  { by, now }: Change,
  context: Context,
): Promise<void> {
  const principal = principalOf(settled);
  const { operator } = by;
  const names: string[] = [];
  for (const { asked, reason = "the request was denied" } of resultOf(settled, now)) {
    const grant = await draft.grants.get(asked.agentGrant ?? "");
    if (grant?.status !== "pending") continue;
    names.push(grant.capability);
    const why = ENDING_REASONS[settled.state] ?? reason;
    const denied: AgentGrant = {
      ...grant,
      status: "denied",
      updated: now,
      reason: causeWords(settled) ?? why,
    };
    await keepGrant(draft, denied, { principal, operator }, now);
  }
  const agent = await draft.agents.get(settled.subject.agent.id);
  if (agent === undefined || !isDeniedByPeople(settled, by)) return;
  const withheld = withWithheld(agent, names);
  if (agent.status !== "pending" || settled.state !== "denied") {
    return draft.put("agents", withheld);
  }
  const said = settled.decisions.find(({ answer }) => answer === "deny")?.reason;
  const rejected: AgentRecord = {
    ...withheld,
    status: "rejected",
    updated: now,
    ...(said === undefined ? {} : { denial: said }),
  };
  await draft.put("agents", rejected);
  const about = { record: agent.id, agent: agent.id, principal, operator };
  draft.note(partyEvent("agent.rejected", now, about));
  await endGrants(draft, rejected, { reason: "the agent was denied", by, now }, context);
}

/** The reasons for denying a grant whose approval ended without a denial. The agent may then register again. */
const ENDING_REASONS: { readonly [State in ApprovalState]?: string } = {
  expired: "no approver decided in time; ask again",
  cancelled: "the request was taken back",
};

/** True if a person refused the request: an approver denied it, or a user or an operator cancelled it. */
function isDeniedByPeople({ state, cause }: Approval, { principal, operator }: Actor): boolean {
  if (cause !== undefined) return false;
  const taken = principal !== undefined || operator === true;
  return state === "denied" || (state === "cancelled" && taken);
}

/** Links a host to a user, unless the host is linked already. A newly linked host's autonomous agents end. */
async function linkHost(
  draft: PartyDraft,
  host: HostRecord,
  principal: string,
  { by, now }: Change,
  context: Context,
): Promise<HostRecord> {
  const { operator } = by;
  const known =
    host.principal === undefined ? await mergedWithEnrolled(draft, host, principal, now) : host;
  const { from: _, ...kept } = known;
  const linked: HostRecord = { ...kept, principal, status: "active", updated: now };
  await draft.put("hosts", linked);
  if (host.principal !== undefined) return linked;
  draft.note(partyEvent("host.linked", now, { record: host.id, principal, operator }));
  for (const agent of await everyRecord(draft.agents, { host: host.id })) {
    if (agent.mode === "autonomous" && LIVING_STATUSES.includes(agent.status)) {
      await takeOverAgent(draft, agent, principal, { by, now }, context);
    }
  }
  return linked;
}

const LIVING_STATUSES: readonly AgentStatus[] = ["active", "expired", "pending"];

function claimEffect(context: Context): ApprovalEffect {
  return {
    prepare: async () => undefined,
    objection: (draft, decided) => objectionTo(draft, decided, ["active", "expired"], context),
    async apply(draft, settled, now, _facts, by) {
      const principal = principalOf(settled);
      const found = await hostedAgent(draft, settled.subject.agent.id);
      if (settled.state !== "approved" || principal === undefined || found === undefined) return;
      await linkHost(draft, found.host, principal, { by, now }, context);
    },
  };
}

async function takeOverAgent(
  draft: PartyDraft,
  agent: AgentRecord,
  principal: string,
  { by, now }: Change,
  context: Context,
): Promise<void> {
  await draft.put("agents", { ...agent, status: "claimed", principal, updated: now });
  const about = { record: agent.id, agent: agent.id, principal, operator: by.operator };
  draft.note(partyEvent("agent.claimed", now, about));
  await endGrants(draft, agent, { reason: "a user took the agent over", by, now }, context);
}
