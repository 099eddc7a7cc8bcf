import type { Approval, ApprovalState } from "../approvals/approval.js";
import type { Actor, ApprovalEffect, ApprovalEffects } from "../approvals/approval-events.js";
import {
  type ApprovedGrant,
  causeWords,
  principalOf,
  resultOf,
} from "../approvals/approval-result.js";
import { type DecisionRefusal, refuseDecision } from "../approvals/deciding.js";
import {
  endOf,
  isLive,
  isOffered,
  NOT_OFFERED,
  POLICY_DENIES,
  permittedOf,
  withholding,
} from "./granting.js";
import { asEnrolled } from "./hosts.js";
import { activated, keepGrant, registryEvent } from "./keeping.js";
import { hostedAgent, seenAgent } from "./looking.js";
import type { AgentGrant, AgentRecord, AgentStatus, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft } from "./registry-store.js";

type Context = Omit<RegistryContext, "approvals">;

/** By whom something ends or begins, and when: milliseconds since 1970. */
interface Settling {
  readonly by: Actor;
  readonly now: number;
}

/** Applies the effects of approvals on agents: activated, linked, denied or taken over, in the same change. */
export function effectsOf(context: Context): ApprovalEffects {
  return { "agent-grants": grantsEffect(context), "agent-claim": claimEffect(context) };
}

function grantsEffect(context: Context): ApprovalEffect {
  return {
    // The policy is asked again: the principal may have become known by this very approval.
    prepare: async (settled) => {
      const { asked, agent } = settled.subject;
      const terms = asked.map(({ name = "", grant, operations: [operation = ""] }) => ({
        name,
        grant,
        operation,
      }));
      return permittedOf(principalOf(settled), agent.id, terms, context);
    },
    objection: (draft, decided) => objectionTo(draft, decided, LIVING, context),
    apply: (draft, settled, now, facts, by) =>
      settled.state === "approved" && facts instanceof Set
        ? activate(draft, settled, facts, { by, now }, context)
        : deny(draft, settled, { by, now }, context),
  };
}

/**
 * Refuses to approve where the agent or its host has ended, or the host is another user's by now.
 *
 * @param statuses - Those of an agent for which approving has an effect.
 */
async function objectionTo(
  draft: RegistryDraft,
  decided: Approval,
  statuses: readonly AgentStatus[],
  context: Context,
): Promise<DecisionRefusal | undefined> {
  const found = await hostedAgent(draft, decided.subject.agent.id);
  if (found === undefined || found.host.status === "revoked") {
    return refuseDecision("agent_ended", "the agent or its host has been revoked");
  }
  const { status } = seenAgent(found.agent, context);
  if (!statuses.includes(status)) {
    return refuseDecision("agent_ended", `the agent cannot get it any more: it is ${status}`);
  }
  const principal = principalOf(decided);
  const { principal: owner = principal } = found.host;
  if (principal === undefined || owner === principal) return undefined;
  const message =
    "another user has taken the agent's host on, and its agents act for that user; nothing was granted";
  return refuseDecision("host_taken", message);
}

async function activate(
  draft: RegistryDraft,
  settled: Approval,
  permitted: ReadonlySet<unknown>,
  { by, now }: Settling,
  context: Context,
): Promise<void> {
  const { subject } = settled;
  const principal = principalOf(settled);
  const { operator } = by;
  const found = await hostedAgent(draft, subject.agent.id);
  if (found === undefined || principal === undefined) return;
  const agent = seenAgent(found.agent, context);
  const linked = await link(draft, found.host, principal, { by, now }, context);
  const results = resultOf(settled, now);
  const refused = results.flatMap(({ granted, asked: { name = "" } }) => (granted ? [] : [name]));
  const owner = agent.status === "pending" ? activated(agent, linked, now, context) : agent;
  await draft.put("agents", withholding(owner, refused));
  if (agent.status === "pending") {
    const about = { record: agent.id, agent: agent.id, principal, operator };
    draft.note(registryEvent("agent.activated", now, about));
  }
  for (const result of results) {
    const grant = await draft.grants.get(result.asked.agentGrant ?? "");
    if (grant?.status !== "pending") continue;
    const { granted, reason = "denied" } = result;
    const why = !granted
      ? reason
      : !permitted.has(grant.capability)
        ? POLICY_DENIES
        : isOffered(grant, context)
          ? undefined
          : NOT_OFFERED;
    const after: AgentGrant =
      why === undefined
        ? approvedGrant(grant, result, settled, principal, now)
        : { ...grant, status: "denied", reason: why, updated: now };
    await keepGrant(draft, after, { principal, operator }, now);
  }
}

function approvedGrant(
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
    expires: endOf(all, now, subject.lifetime),
    ...(by === undefined ? {} : { grantedBy: by }),
  };
}

/** Denies what waits for the approval; with a registration that people deny, the agent. */
async function deny(
  draft: RegistryDraft,
  settled: Approval,
  { by, now }: Settling,
  context: Context,
): Promise<void> {
  const principal = principalOf(settled);
  const { operator } = by;
  const names: string[] = [];
  for (const { asked, reason = "the request was denied" } of resultOf(settled, now)) {
    const grant = await draft.grants.get(asked.agentGrant ?? "");
    if (grant?.status !== "pending") continue;
    names.push(grant.capability);
    const why = ENDED[settled.state] ?? reason;
    const denied: AgentGrant = {
      ...grant,
      status: "denied",
      updated: now,
      reason: causeWords(settled) ?? why,
    };
    await keepGrant(draft, denied, { principal, operator }, now);
  }
  const agent = await draft.agents.get(settled.subject.agent.id);
  if (agent === undefined || !isByPeople(settled, by)) return;
  const withheld = withholding(agent, names);
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
  draft.note(registryEvent("agent.rejected", now, about));
  await endGrants(draft, rejected, { reason: "the agent was denied", by, now }, context);
}

/** The reason for denying a grant whose approval ended without a denial; a late registration can be repeated. */
const ENDED: { readonly [State in ApprovalState]?: string } = {
  expired: "no approver decided in time; ask again",
  cancelled: "the request was taken back",
};

/** True if people said no: approvers, or a user or an operator who took the request back. */
function isByPeople({ state, cause }: Approval, { principal, operator }: Actor): boolean {
  if (cause !== undefined) return false;
  const taken = principal !== undefined || operator === true;
  return state === "denied" || (state === "cancelled" && taken);
}

/** Links a host to a user, if it is not; agents that acted for no user end then. */
async function link(
  draft: RegistryDraft,
  host: HostRecord,
  principal: string,
  { by, now }: Settling,
  context: Context,
): Promise<HostRecord> {
  const { operator } = by;
  const known = host.principal === undefined ? await asEnrolled(draft, host, principal, now) : host;
  const { from: _, ...kept } = known;
  const linked: HostRecord = { ...kept, principal, status: "active", updated: now };
  await draft.put("hosts", linked);
  if (host.principal !== undefined) return linked;
  draft.note(registryEvent("host.linked", now, { record: host.id, principal, operator }));
  for (const agent of await everyRecord(draft.agents, { host: host.id })) {
    if (agent.mode === "autonomous" && LIVING.includes(agent.status)) {
      await takeOver(draft, agent, principal, { by, now }, context);
    }
  }
  return linked;
}

const LIVING: readonly AgentStatus[] = ["active", "expired", "pending"];

function claimEffect(context: Context): ApprovalEffect {
  return {
    prepare: async () => undefined,
    objection: (draft, decided) => objectionTo(draft, decided, ["active", "expired"], context),
    async apply(draft, settled, now, _facts, by) {
      const principal = principalOf(settled);
      const found = await hostedAgent(draft, settled.subject.agent.id);
      if (settled.state !== "approved" || principal === undefined || found === undefined) return;
      await link(draft, found.host, principal, { by, now }, context);
    },
  };
}

async function takeOver(
  draft: RegistryDraft,
  agent: AgentRecord,
  principal: string,
  { by, now }: Settling,
  context: Context,
): Promise<void> {
  await draft.put("agents", { ...agent, status: "claimed", principal, updated: now });
  const about = { record: agent.id, agent: agent.id, principal, operator: by.operator };
  draft.note(registryEvent("agent.claimed", now, about));
  await endGrants(draft, agent, { reason: "a user took the agent over", by, now }, context);
}

/** Revokes all or some of what an agent has or waits for. @returns What was not at its end, as it was. */
export async function endGrants(
  draft: RegistryDraft,
  agent: AgentRecord,
  { reason, by: { operator }, now }: Settling & { readonly reason: string },
  { store }: Pick<RegistryContext, "store">,
  concerned: (grant: AgentGrant) => boolean = () => true,
): Promise<readonly AgentGrant[]> {
  const all = await everyRecord(draft.grants, { agent: agent.id });
  const living = all.filter(({ status }) => status === "active" || status === "pending");
  const ended = living.filter(concerned);
  for (const grant of ended) {
    if (isLive(grant, now)) store.ends(draft, grant);
    const revoked: AgentGrant = { ...grant, status: "revoked", reason, updated: now };
    await keepGrant(draft, revoked, { principal: agent.principal, operator }, now);
  }
  return ended;
}
