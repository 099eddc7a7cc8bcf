import type { Actor } from "../approvals/approval-events.js";
import { outcomeOf } from "./answering.js";
import { withholding } from "./granting.js";
import { registryEvent } from "./keeping.js";
import { type HostedAgent, hostedAgent } from "./looking.js";
import { type AgentAnswer, leave, type Outcome } from "./outcomes.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft } from "./registry-store.js";
import { endGrants } from "./settling.js";

/** The number of objects revoked for a user. */
export interface RevokedUser {
  readonly hosts: number;
  readonly agents: number;
}

/** @see Registry.revokeAgent */
export async function revokeAgent(
  id: string,
  by: Actor,
  context: RegistryContext,
): Promise<Outcome<AgentAnswer>> {
  return outcomeOf("agent.revoked", { record: id, agent: id, ...whoOf(by) }, context, () =>
    context.store.change(async (draft) => {
      const { agent, host } = await ownedAgent(draft, id, by);
      const grants = await endAgent(draft, agent, by, context);
      const revoked = (await draft.agents.get(id)) ?? agent;
      return { host, agent: revoked, grants };
    }),
  );
}

/** @returns The grants that it ended, as they were. */
async function endAgent(
  draft: RegistryDraft,
  agent: AgentRecord,
  by: Actor,
  context: RegistryContext,
): Promise<readonly AgentGrant[]> {
  const now = context.clock();
  if (agent.status === "revoked") return [];
  for (const state of ["pending", "approved"] as const) {
    for (const approval of await draft.approvals.find({ agent: agent.id, state })) {
      await context.approvals.cancelIn(draft, approval, by);
    }
  }
  const grants = await endGrants(draft, agent, { reason: wordsOf(by), by, now }, context);
  await draft.put("agents", { ...agent, status: "revoked", updated: now });
  const principal = by.principal ?? agent.principal;
  const about = { record: agent.id, agent: agent.id, principal, operator: by.operator };
  draft.note(registryEvent("agent.revoked", now, about));
  return grants;
}

/** @see Registry.revokeHost */
export async function revokeHost(
  id: string,
  by: Actor,
  context: RegistryContext,
): Promise<Outcome<{ readonly host: HostRecord; readonly agentsRevoked: number }>> {
  return outcomeOf("host.revoked", { record: id, ...whoOf(by) }, context, () =>
    context.store.change(async (draft) => {
      const host = await draft.hosts.get(id);
      if (host === undefined) return leave("host_not_found", "there is no such host");
      assertOwner(host, undefined, by);
      if (host.status === "revoked") return { host, agentsRevoked: 0 };
      let agentsRevoked = 0;
      for (const agent of await everyRecord(draft.agents, { host: id })) {
        if (agent.status === "revoked") continue;
        if (agent.status !== "rejected") agentsRevoked++;
        await endAgent(draft, agent, by, context);
      }
      const now = context.clock();
      const { enrolment: _, ...rest } = host;
      const revoked: HostRecord = { ...rest, status: "revoked", updated: now };
      await draft.put("hosts", revoked);
      const principal = by.principal ?? host.principal;
      draft.note(
        registryEvent("host.revoked", now, { record: id, principal, operator: by.operator }),
      );
      return { host: revoked, agentsRevoked };
    }),
  );
}

/** @see Registry.revokeUser */
export async function revokeUser(
  principal: string,
  by: Actor,
  context: RegistryContext,
): Promise<RevokedUser> {
  const { store, clock } = context;
  // Revokes first what other services accept: tokens, and approvals that were given or are pending.
  await store.revokePrincipal(principal);
  const { operator } = by;
  await store.change(async (draft) =>
    draft.note(registryEvent("user.revoked", clock(), { principal, operator })),
  );
  const revoked = { hosts: 0, agents: 0 };
  for (const { id, status } of await store.read((view) => everyRecord(view.hosts, { principal }))) {
    if (status === "revoked") continue;
    const outcome = await revokeHost(id, by, context);
    if (!outcome.ok) continue;
    revoked.hosts++;
    revoked.agents += outcome.agentsRevoked;
  }
  return revoked;
}

/** @see Registry.revokeGrants */
export async function revokeGrants(
  id: string,
  names: readonly string[],
  by: Actor,
  context: RegistryContext,
): Promise<Outcome<AgentAnswer>> {
  return outcomeOf("grant.revoked", { agent: id, ...whoOf(by) }, context, () =>
    context.store.change(async (draft) => {
      const { agent, host } = await ownedAgent(draft, id, by);
      if (agent.status === "revoked") leave("agent_revoked", "the agent has been revoked");
      const grants = await end(draft, agent, by, context, ({ capability }) =>
        names.includes(capability),
      );
      return { host, agent, grants };
    }),
  );
}

/** @see Registry.revokeGrant */
export async function revokeGrant(
  id: string,
  by: Actor,
  context: RegistryContext,
): Promise<Outcome<{ readonly grant: AgentGrant }>> {
  return outcomeOf("grant.revoked", { record: id, ...whoOf(by) }, context, () =>
    context.store.change(async (draft) => {
      const grant = await draft.grants.get(id);
      if (grant === undefined) return leave("grant_not_found", "there is no such grant");
      const { agent } = await ownedAgent(draft, grant.agent, by);
      await end(draft, agent, by, context, (one) => one.id === id);
      return { grant: (await draft.grants.get(id)) ?? grant };
    }),
  );
}

/** Ends some of an agent's grants, with the approvals that have no other grants left. */
async function end(
  draft: RegistryDraft,
  agent: AgentRecord,
  by: Actor,
  context: RegistryContext,
  concerned: (grant: AgentGrant) => boolean,
): Promise<readonly AgentGrant[]> {
  const all = await everyRecord(draft.grants, { agent: agent.id });
  const ending = { reason: wordsOf(by), by, now: context.clock() };
  const ended = await endGrants(draft, agent, ending, context, concerned);
  const names = ended.map(({ capability }) => capability);
  await draft.put("agents", withholding(agent, names));
  const left = all
    .filter(({ status }) => status === "pending")
    .filter((grant) => !concerned(grant));
  for (const { approval } of ended.filter(({ status }) => status === "pending")) {
    if (approval === undefined || left.some((grant) => grant.approval === approval)) continue;
    const waiting = await draft.approvals.get(approval);
    // A registration still asks to be taken on.
    if (waiting === undefined || agent.status === "pending") continue;
    await context.approvals.cancelIn(draft, waiting, by);
  }
  return ended;
}

/** An agent that the actor, as its user, host, itself or an operator, may end. @throws Refused */
export async function ownedAgent(
  draft: RegistryDraft,
  id: string,
  by: Actor,
): Promise<HostedAgent> {
  const found = await hostedAgent(draft, id);
  if (found === undefined) return leave("agent_not_found", "there is no such agent");
  assertOwner(found.host, found.agent, by);
  return found;
}

function assertOwner(host: HostRecord, agent: AgentRecord | undefined, by: Actor): void {
  const own =
    by.operator === true ||
    by.host === host.id ||
    (agent !== undefined && by.agent === agent.id) ||
    (by.principal !== undefined && by.principal === (agent?.principal ?? host.principal));
  if (!own) leave("unauthorized", "another user's, or another host's");
}

/** The party whose attempt may be refused. */
function whoOf({ principal, operator }: Actor): Pick<Actor, "principal" | "operator"> {
  return { principal, operator };
}

function wordsOf({ principal, host, agent }: Actor): string {
  if (principal !== undefined) return "its user revoked it";
  if (agent !== undefined) return "the agent revoked it";
  return host === undefined ? "the operator revoked it" : "its host revoked it";
}
