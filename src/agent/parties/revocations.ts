// Revocations of hosts, agents and grants, and of everything a user has.

import { assertOwner, ownedAgent, withWithheld } from "./agents.js";
import { outcomeOf } from "./answers.js";
import type { PartiesContext } from "./context.js";
import { type Actor, partyEvent } from "./events.js";
import { endGrants } from "./grants.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import { type Outcome, throwRefusal } from "./refusals.js";
import type { AgentAnswer } from "./requests.js";
import { everyRecord, type PartyDraft } from "./store.js";

/** The number of records revoked for a user. */
export interface RevokedUser {
  readonly hosts: number;
  readonly agents: number;
}

/** @see Parties.revokeAgent */
export async function revokeAgent(
  id: string,
  by: Actor,
  context: PartiesContext,
): Promise<Outcome<AgentAnswer>> {
  return outcomeOf("agent.revoked", { record: id, agent: id, ...actorIn(by) }, context, () =>
    context.store.change(async (draft) => {
      const { agent, host } = await ownedAgent(draft, id, by);
      const grants = await revokeAgentIn(draft, agent, by, context);
      const revoked = (await draft.agents.get(id)) ?? agent;
      return { host, agent: revoked, grants };
    }),
  );
}

/** @returns The grants that ended, as they were before. */
async function revokeAgentIn(
  draft: PartyDraft,
  agent: AgentRecord,
  by: Actor,
  context: PartiesContext,
): Promise<readonly AgentGrant[]> {
  const now = context.clock();
  if (agent.status === "revoked") return [];
  for (const state of ["pending", "approved"] as const) {
    for (const approval of await draft.approvals.find({ agent: agent.id, state })) {
      await context.approvals.cancelIn(draft, approval, by);
    }
  }
  const grants = await endGrants(draft, agent, { reason: revocationReason(by), by, now }, context);
  await draft.put("agents", { ...agent, status: "revoked", updated: now });
  const principal = by.principal ?? agent.principal;
  const about = { record: agent.id, agent: agent.id, principal, operator: by.operator };
  draft.note(partyEvent("agent.revoked", now, about));
  return grants;
}

/** @see Parties.revokeHost */
export async function revokeHost(
  id: string,
  by: Actor,
  context: PartiesContext,
): Promise<Outcome<{ readonly host: HostRecord; readonly agentsRevoked: number }>> {
  return outcomeOf("host.revoked", { record: id, ...actorIn(by) }, context, () =>
    context.store.change(async (draft) => {
      const host = await draft.hosts.get(id);
      if (host === undefined) return throwRefusal("host_not_found", "there is no such host");
      assertOwner(host, undefined, by);
      if (host.status === "revoked") return { host, agentsRevoked: 0 };
      let agentsRevoked = 0;
      for (const agent of await everyRecord(draft.agents, { host: id })) {
        if (agent.status === "revoked") continue;
        if (agent.status !== "rejected") agentsRevoked++;
        await revokeAgentIn(draft, agent, by, context);
      }
      const now = context.clock();
      const { enrolment: _, ...rest } = host;
      const revoked: HostRecord = { ...rest, status: "revoked", updated: now };
      await draft.put("hosts", revoked);
      const principal = by.principal ?? host.principal;
      draft.note(partyEvent("host.revoked", now, { record: id, principal, operator: by.operator }));
      return { host: revoked, agentsRevoked };
    }),
  );
}

/** @see Parties.revokeUser */
export async function revokeUser(
  principal: string,
  by: Actor,
  context: PartiesContext,
): Promise<RevokedUser> {
  const { store, clock } = context;
  // First revoke the user's tokens, which other services accept. This also voids pending and approved
  // approvals.
  await store.revokePrincipal(principal);
  const { operator } = by;
  await store.change(async (draft) =>
    draft.note(partyEvent("user.revoked", clock(), { principal, operator })),
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

/** @see Parties.revokeGrants */
export async function revokeGrants(
  id: string,
  names: readonly string[],
  by: Actor,
  context: PartiesContext,
): Promise<Outcome<AgentAnswer>> {
  return outcomeOf("grant.revoked", { agent: id, ...actorIn(by) }, context, () =>
    context.store.change(async (draft) => {
      const { agent, host } = await ownedAgent(draft, id, by);
      if (agent.status === "revoked") throwRefusal("agent_revoked", "the agent has been revoked");
      const grants = await endSomeGrants(draft, agent, by, context, ({ capability }) =>
        names.includes(capability),
      );
      return { host, agent, grants };
    }),
  );
}

/** @see Parties.revokeGrant */
export async function revokeGrant(
  id: string,
  by: Actor,
  context: PartiesContext,
): Promise<Outcome<{ readonly grant: AgentGrant }>> {
  return outcomeOf("grant.revoked", { record: id, ...actorIn(by) }, context, () =>
    context.store.change(async (draft) => {
      const grant = await draft.grants.get(id);
      if (grant === undefined) return throwRefusal("grant_not_found", "there is no such grant");
      const { agent } = await ownedAgent(draft, grant.agent, by);
      await endSomeGrants(draft, agent, by, context, (one) => one.id === id);
      return { grant: (await draft.grants.get(id)) ?? grant };
    }),
  );
}

/** Revokes some of an agent's grants, and cancels approvals for which no other grants wait. */
async function endSomeGrants(
  draft: PartyDraft,
  agent: AgentRecord,
  by: Actor,
  context: PartiesContext,
  concerned: (grant: AgentGrant) => boolean,
): Promise<readonly AgentGrant[]> {
  const all = await everyRecord(draft.grants, { agent: agent.id });
  const ending = { reason: revocationReason(by), by, now: context.clock() };
  const ended = await endGrants(draft, agent, ending, context, concerned);
  const names = ended.map(({ capability }) => capability);
  await draft.put("agents", withWithheld(agent, names));
  const left = all
    .filter(({ status }) => status === "pending")
    .filter((grant) => !concerned(grant));
  for (const { approval } of ended.filter(({ status }) => status === "pending")) {
    if (approval === undefined || left.some((grant) => grant.approval === approval)) continue;
    const waiting = await draft.approvals.get(approval);
    // A pending agent's registration still needs its approval, even without grants.
    if (waiting === undefined || agent.status === "pending") continue;
    await context.approvals.cancelIn(draft, waiting, by);
  }
  return ended;
}

/** Returns the actor to record if the attempt is refused. */
function actorIn({ principal, operator }: Actor): Pick<Actor, "principal" | "operator"> {
  return { principal, operator };
}

function revocationReason({ principal, host, agent }: Actor): string {
  if (principal !== undefined) return "its user revoked it";
  if (agent !== undefined) return "the agent revoked it";
  return host === undefined ? "the operator revoked it" : "its host revoked it";
}
