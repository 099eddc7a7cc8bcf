import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft, type RegistryView } from "./registry-store.js";

/** A grant with what it is of. */
export interface ListedGrant {
  readonly grant: AgentGrant;
  readonly agent: AgentRecord;
  readonly host: HostRecord;
}

type Clocked = Pick<RegistryContext, "clock" | "settings">;

/** An agent as it is now: one whose time is over is expired, or revoked after its whole lifetime. */
export function seenAgent(agent: AgentRecord, { clock, settings }: Clocked): AgentRecord {
  const now = clock();
  const { status, expires, created } = agent;
  if (status !== "active" && status !== "expired") return agent;
  if (now >= created + settings.lifetimes.agentWhole * 1000) return { ...agent, status: "revoked" };
  if (status === "active" && expires !== undefined && expires <= now)
    return { ...agent, status: "expired" };
  return agent;
}

/** A grant as it is now: one whose time is over is revoked. */
export function seenGrant(grant: AgentGrant, { clock }: Clocked): AgentGrant {
  const { status, expires } = grant;
  if (status !== "active" || expires === undefined || expires > clock()) return grant;
  return { ...grant, status: "revoked", reason: "it expired" };
}

/** Denies what an agent waits for, and whose time is over. */
export async function expireApprovalsOf(agent: string, context: RegistryContext): Promise<void> {
  const query = { agent, state: "pending" } as const;
  const isOver = ({ expires }: { readonly expires: number }): boolean => expires <= context.clock();
  const waiting = await context.store.read((view) => view.approvals.find(query));
  if (!waiting.some(isOver)) return;
  await context.store.change(async (draft) => {
    for (const approval of await draft.approvals.find(query)) {
      await context.approvals.expireIn(draft, approval);
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

/** Hosts that were given a key and have not proven it. At most two: it matters whether there is one alone. */
export async function hostsGiven(
  view: RegistryView | RegistryDraft,
  thumbprint: string,
): Promise<readonly HostRecord[]> {
  const found = await view.hosts.find({ thumbprint });
  return found.filter(({ unproven }) => unproven?.thumbprint === thumbprint).slice(0, 2);
}
