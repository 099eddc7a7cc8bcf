import type { Approval } from "../approvals/approval.js";
import type { ApprovalEffect, ApprovalEffects } from "../approvals/approval-effects.js";
import { type ApprovedGrant, principalOf, resultOf } from "../approvals/approval-result.js";
import { registryEvent } from "./events.js";
import { everyRecord } from "./every-record.js";
import { endOf, isLive, LATE, POLICY_DENIES, permittedOf } from "./granting.js";
import { activated, keepGrant } from "./keeping.js";
import { seenAgent } from "./looking.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";

type Context = Omit<RegistryContext, "approvals">;

/** What becomes of approvals of agents: activated, linked, denied or taken over, in the same change. */
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
    apply: (draft, settled, now, facts) =>
      settled.state === "approved" && facts instanceof Set
        ? activate(draft, settled, facts, now, context)
        : deny(draft, settled, now, context),
  };
}

async function activate(
  draft: RegistryDraft,
  settled: Approval,
  permitted: ReadonlySet<unknown>,
  now: number,
  context: Context,
): Promise<void> {
  const { subject } = settled;
  const principal = principalOf(settled);
  const kept = await draft.agents.get(subject.agent.id);
  const host = kept === undefined ? undefined : await draft.hosts.get(kept.host);
  if (kept === undefined || host === undefined || principal === undefined) return;
  const agent = seenAgent(kept, context);
  const gone =
    host.status === "revoked" || !["pending", "active", "expired"].includes(agent.status);
  const taken = host.principal !== undefined && host.principal !== principal;
  if (gone || taken) return deny(draft, settled, now, context, taken ? OTHER_USER : undefined);
  const linked = await link(draft, host, principal, now, context);
  const owner = agent.status === "pending" ? activated(agent, linked, now, context) : agent;
  await draft.put("agents", owner);
  if (agent.status === "pending") {
    draft.note(
      registryEvent("agent.activated", now, { record: agent.id, agent: agent.id, principal }),
    );
  }
  for (const result of resultOf(settled, now)) {
    const grant = await draft.grants.get(result.asked.agentGrant ?? "");
    if (grant?.status !== "pending") continue;
    const own = approvedGrant(grant, result, settled, now);
    const allowed = permitted.has(grant.capability);
    const after: AgentGrant =
      allowed || own.status === "denied"
        ? own
        : { ...own, status: "denied", reason: POLICY_DENIES };
    await keepGrant(draft, after, principal, now);
  }
}

function approvedGrant(
  grant: AgentGrant,
  { granted, hops, reason }: ApprovedGrant,
  { subject, decisions }: Approval,
  now: number,
): AgentGrant {
  if (!granted) return { ...grant, status: "denied", reason: reason ?? "denied", updated: now };
  const own = hops.map(({ who, hop }) => ({ by: "approver" as const, who, hop }));
  const all = [...grant.hops, ...own];
  const by = decisions.at(-1)?.approver;
  return {
    ...grant,
    ...{ status: "active", hops: all, updated: now, expires: endOf(all, now, subject.lifetime) },
    ...(by === undefined ? {} : { grantedBy: by }),
  };
}

/** Denies what waits for the approval; with a registration, the agent. */
async function deny(
  draft: RegistryDraft,
  settled: Approval,
  now: number,
  context: Context,
  why?: string,
): Promise<void> {
  const principal = principalOf(settled);
  const late = settled.state === "expired";
  const said = settled.decisions.find(({ answer }) => answer === "deny")?.reason;
  const results = resultOf(settled, now);
  for (const { asked, reason = "the request was denied" } of results) {
    const grant = await draft.grants.get(asked.agentGrant ?? "");
    if (grant?.status !== "pending") continue;
    const cancelled = settled.state === "cancelled" ? "the request was taken back" : reason;
    const words = why ?? (late ? LATE : cancelled);
    await keepGrant(
      draft,
      { ...grant, status: "denied", reason: words, updated: now },
      principal,
      now,
    );
  }
  const agent = await draft.agents.get(settled.subject.agent.id);
  // What is late can be registered again with the same key.
  if (agent?.status !== "pending" || settled.state !== "denied") return;
  const denial = said ?? why;
  const rejected: AgentRecord = {
    ...agent,
    ...{ status: "rejected", updated: now },
    ...(denial === undefined ? {} : { denial }),
  };
  await draft.put("agents", rejected);
  draft.note(
    registryEvent("agent.rejected", now, { record: agent.id, agent: agent.id, principal }),
  );
  await endGrants(draft, rejected, "the agent was denied", now, context);
}

/** Links a host to a user, if it is not; agents that acted for no user end then. */
async function link(
  draft: RegistryDraft,
  host: HostRecord,
  principal: string,
  now: number,
  context: Context,
): Promise<HostRecord> {
  const linked: HostRecord = { ...host, principal, status: "active", updated: now };
  await draft.put("hosts", linked);
  if (host.principal !== undefined) return linked;
  draft.note(registryEvent("host.linked", now, { record: host.id, principal }));
  for (const agent of await everyRecord(draft.agents, { host: host.id })) {
    if (agent.mode === "autonomous" && LIVING.includes(agent.status)) {
      await takeOver(draft, agent, principal, now, context);
    }
  }
  return linked;
}

const LIVING: readonly string[] = ["active", "expired", "pending"];
const OTHER_USER = "the host was linked to another user meanwhile";

function claimEffect(context: Context): ApprovalEffect {
  return {
    prepare: async () => undefined,
    async apply(draft, settled, now) {
      const principal = principalOf(settled);
      const agent = await draft.agents.get(settled.subject.agent.id);
      const host = agent === undefined ? undefined : await draft.hosts.get(agent.host);
      if (settled.state !== "approved" || principal === undefined) return;
      if (agent === undefined || host === undefined) return;
      const other = host.principal !== undefined && host.principal !== principal;
      if (agent.status !== "active" || host.status === "revoked" || other) return;
      await link(draft, host, principal, now, context);
    },
  };
}

async function takeOver(
  draft: RegistryDraft,
  agent: AgentRecord,
  principal: string,
  now: number,
  context: Context,
): Promise<void> {
  await draft.put("agents", { ...agent, status: "claimed", principal, updated: now });
  draft.note(registryEvent("agent.claimed", now, { record: agent.id, agent: agent.id, principal }));
  await endGrants(draft, agent, "a user took the agent over", now, context);
}

/** Revokes all or some of what an agent has or waits for. @returns What was not at its end, as it was. */
export async function endGrants(
  draft: RegistryDraft,
  agent: AgentRecord,
  reason: string,
  now: number,
  { store }: Pick<RegistryContext, "store">,
  concerned: (grant: AgentGrant) => boolean = () => true,
): Promise<readonly AgentGrant[]> {
  const all = await everyRecord(draft.grants, { agent: agent.id });
  const living = all.filter(({ status }) => status === "active" || status === "pending");
  const ended = living.filter(concerned);
  for (const grant of ended) {
    if (isLive(grant, now)) store.ends(draft, grant);
    await keepGrant(
      draft,
      { ...grant, status: "revoked", reason, updated: now },
      agent.principal,
      now,
    );
  }
  return ended;
}
