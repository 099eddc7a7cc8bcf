// Agents: their current status, principal and expiry, and who may revoke them.

import type { PartiesContext } from "./context.js";
import type { Actor } from "./events.js";
import type { AgentRecord, AgentStatus, HostRecord } from "./records.js";
import { type PartyRefusalCode, throwRefusal } from "./refusals.js";
import type { PartyDraft, PartyView } from "./store.js";

export interface HostedAgent {
  readonly agent: AgentRecord;
  readonly host: HostRecord;
}

/** Returns the stored agent with its host; `undefined` if there is no such agent. */
export async function hostedAgent(
  view: Pick<PartyView, "agents" | "hosts">,
  id: string,
): Promise<HostedAgent | undefined> {
  const agent = await view.agents.get(id);
  const host = agent === undefined ? undefined : await view.hosts.get(agent.host);
  return agent === undefined || host === undefined ? undefined : { agent, host };
}

/** Returns the agent with its current status: `revoked` once its whole lifetime is over, `expired` after its expiry. */
export function currentAgent(
  agent: AgentRecord,
  { clock, settings }: Pick<PartiesContext, "clock" | "settings">,
): AgentRecord {
  const now = clock();
  const { status, expires, created } = agent;
  if (status !== "active" && status !== "expired") return agent;
  if (now >= created + settings.lifetimes.agentWhole * 1000) return { ...agent, status: "revoked" };
  if (status === "active" && expires !== undefined && expires <= now)
    return { ...agent, status: "expired" };
  return agent;
}

/**
 * Returns an active agent and its active host.
 * @throws RefusedError if one of them is missing or not active.
 */
export async function livingAgent(
  draft: PartyDraft,
  id: string,
  context: PartiesContext,
): Promise<HostedAgent> {
  const found = await hostedAgent(draft, id);
  if (found === undefined) return throwRefusal("agent_not_found", "there is no such agent");
  const { host } = found;
  if (host.status === "revoked") throwRefusal("host_revoked", "the agent's host has been revoked");
  const agent = currentAgent(found.agent, context);
  if (agent.status !== "active") throwStatusRefusal(agent.status);
  if (host.status !== "active")
    throwRefusal("host_pending", "the agent's host waits for a user's approval");
  return { agent, host };
}

/**
 * Throws the refusal for an agent that is not active.
 *
 * @throws RefusedError
 */
export function throwStatusRefusal(status: Exclude<AgentStatus, "active">): never {
  return throwRefusal(...STATUS_REFUSALS[status]);
}

const STATUS_REFUSALS: {
  readonly [Status in Exclude<AgentStatus, "active">]: readonly [PartyRefusalCode, string];
} = {
  pending: ["agent_pending", "the agent waits for a user's approval"],
  expired: ["agent_expired", "the agent has expired; its host can reactivate it"],
  revoked: ["agent_revoked", "the agent has been revoked"],
  rejected: ["agent_rejected", "an approver denied the agent's registration"],
  claimed: ["agent_claimed", "a user took the agent over, which ended it"],
};

/**
 * Returns an agent with its host.
 * @throws RefusedError unless the actor is the agent's user, its host, the agent itself or an operator.
 */
export async function ownedAgent(draft: PartyDraft, id: string, by: Actor): Promise<HostedAgent> {
  const found = await hostedAgent(draft, id);
  if (found === undefined) return throwRefusal("agent_not_found", "there is no such agent");
  assertOwner(found.host, found.agent, by);
  return found;
}

export function assertOwner(host: HostRecord, agent: AgentRecord | undefined, by: Actor): void {
  const own =
    by.operator === true ||
    by.host === host.id ||
    (agent !== undefined && by.agent === agent.id) ||
    (by.principal !== undefined && by.principal === (agent?.principal ?? host.principal));
  if (!own) throwRefusal("unauthorized", "another user's, or another host's");
}

/** Returns the principal for which an agent acts: its user or, if it has no user, a name derived from its host. */
export function principalOfAgent(agent: AgentRecord, host: HostRecord): string {
  const user = agent.mode === "delegated" ? host.principal : undefined;
  return agent.principal ?? user ?? autonomousPrincipal(host.id);
}

/** Returns the name by which policies and ledgers refer to a host's autonomous agents. */
export function autonomousPrincipal(host: string): string {
  return `autonomous:${host}`;
}

/** Activates an agent: sets its status, its principal and its expiry. */
export function activatedAgent(
  agent: AgentRecord,
  host: HostRecord,
  now: number,
  context: Pick<PartiesContext, "settings">,
): AgentRecord {
  const principal = agent.mode === "delegated" ? host.principal : undefined;
  const active: AgentRecord = { ...agent, status: "active", activated: now, updated: now };
  return {
    ...active,
    ...(principal === undefined ? {} : { principal }),
    expires: agentExpiry(active, now, context),
  };
}

/** Returns the expiry of an agent that is used at `now`, in milliseconds since 1970. */
export function agentExpiry(
  { activated: begun, created }: AgentRecord,
  now: number,
  { settings: { lifetimes } }: Pick<PartiesContext, "settings">,
): number {
  const { agent: idle, agentMost, agentWhole } = lifetimes;
  return Math.min(
    now + idle * 1000,
    (begun ?? created) + agentMost * 1000,
    created + agentWhole * 1000,
  );
}

/**
 * Returns the agent with more names in `withheld`: the names of capabilities that people have revoked or denied. The
 * agent no longer gets these capabilities by default.
 */
export function withWithheld(agent: AgentRecord, names: readonly string[]): AgentRecord {
  const { withheld = [] } = agent;
  const more = names.filter((name) => !withheld.includes(name));
  return more.length === 0 ? agent : { ...agent, withheld: [...withheld, ...new Set(more)] };
}
