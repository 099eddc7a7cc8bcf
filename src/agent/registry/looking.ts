import { isLive, isOffered, NOT_OFFERED } from "./granting.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft, type RegistryView } from "./registry-store.js";

/** A grant with its agent and host. */
export interface ListedGrant {
  readonly grant: AgentGrant;
  readonly agent: AgentRecord;
  readonly host: HostRecord;
}

/** An agent as it is now: one whose time is over is expired, or revoked after its whole lifetime. */
export function seenAgent(
  agent: AgentRecord,
  { clock, settings }: Pick<RegistryContext, "clock" | "settings">,
): AgentRecord {
  const now = clock();
  const { status, expires, created } = agent;
  if (status !== "active" && status !== "expired") return agent;
  if (now >= created + settings.lifetimes.agentWhole * 1000) return { ...agent, status: "revoked" };
  if (status === "active" && expires !== undefined && expires <= now)
    return { ...agent, status: "expired" };
  return agent;
}

/** A grant as it is now: an active one is revoked once it has ended without its record saying so. */
export function seenGrant(
  grant: AgentGrant,
  context: Pick<RegistryContext, "clock" | "terms" | "revocations">,
): AgentGrant {
  if (grant.status !== "active") return grant;
  const reason = !isLive(grant, context.clock())
    ? "it expired"
    : isRevoked(grant, context)
      ? "it was revoked"
      : isOffered(grant, context)
        ? undefined
        : NOT_OFFERED;
  return reason === undefined ? grant : { ...grant, status: "revoked", reason };
}

/** True if the revocation list ends an active grant: its capability, or all that its principal had before. */
export function isRevoked(
  grant: AgentGrant,
  { revocations }: Pick<RegistryContext, "revocations">,
): boolean {
  const { capabilityId: capability, principal, updated: issued } = grant;
  const who = principal === undefined ? {} : { principal };
  return revocations.find({ links: [], keys: [], capability, issued, ...who }).length > 0;
}

/**
 * The capabilities whose grants the revocation list ended, and nothing else. Read before a change that ends grants:
 * such a change revokes them first.
 *
 * @param kept - The grants of an agent, as they are stored.
 */
export function revokedNames(
  kept: readonly AgentGrant[],
  context: Pick<RegistryContext, "revocations">,
): readonly string[] {
  return kept
    .filter((grant) => grant.status === "active" && isRevoked(grant, context))
    .map(({ capability }) => capability);
}

/** Settles pending requests of an agent that have ended without a decision. */
export async function settleApprovalsOf(
  agent: string,
  { store, approvals }: RegistryContext,
): Promise<void> {
  const query = { agent, state: "pending" } as const;
  const waiting = await store.read((view) => view.approvals.find(query));
  if (waiting.every((one) => approvals.seen(one) === one)) return;
  await store.change(async (draft) => {
    for (const approval of await draft.approvals.find(query)) {
      await approvals.settleIn(draft, approval);
    }
  });
}

/** Everything that is granted on behalf of a user now. */
export async function listGrants(
  principal: string,
  context: RegistryContext,
): Promise<readonly ListedGrant[]> {
  return context.store.read(async (view) => {
    const listed: ListedGrant[] = [];
    for (const kept of await everyRecord(view.agents, { principal })) {
      const agent = seenAgent(kept, context);
      if (agent.status !== "active" && agent.status !== "expired") continue;
      const host = await view.hosts.get(agent.host);
      if (host === undefined) continue;
      for (const grant of await everyRecord(view.grants, { agent: agent.id })) {
        if (seenGrant(grant, context).status === "active") listed.push({ grant, agent, host });
      }
    }
    return listed;
  });
}

export interface HostedAgent {
  readonly agent: AgentRecord;
  readonly host: HostRecord;
}

/** An agent as it is kept, with its host; `undefined` if there is no such agent. */
export async function hostedAgent(
  view: Pick<RegistryView, "agents" | "hosts">,
  id: string,
): Promise<HostedAgent | undefined> {
  const agent = await view.agents.get(id);
  const host = agent === undefined ? undefined : await view.hosts.get(agent.host);
  return agent === undefined || host === undefined ? undefined : { agent, host };
}

/** True if a host is active and a user has taken it on: anyone can make the others. */
export function isOfUser({ status, principal }: HostRecord): boolean {
  return status === "active" && principal !== undefined;
}

/** The host that has proven a key; without one, the last host that was revoked with it. */
export async function hostWithKey(
  view: RegistryView | RegistryDraft,
  thumbprint: string,
): Promise<HostRecord | undefined> {
  const [holder] = await view.hosts.find({ held: thumbprint, limit: 1 });
  if (holder !== undefined) return holder;
  const found = await view.hosts.find({ thumbprint, latestFirst: true });
  return found.find(({ status }) => status === "revoked");
}

/** Hosts that were given a key and have not proven it. */
export async function hostsGiven(
  view: RegistryView | RegistryDraft,
  thumbprint: string,
): Promise<readonly HostRecord[]> {
  const found = await view.hosts.find({ thumbprint });
  return found.filter(({ unproven }) => unproven?.thumbprint === thumbprint);
}
