import { registryEvent } from "./events.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";

/** Keeps a grant that has changed, and records that. */
export async function keepGrant(
  draft: RegistryDraft,
  grant: AgentGrant,
  principal: string | undefined,
  now: number,
): Promise<void> {
  await draft.put("grants", grant);
  const { status, purpose } = grant;
  const change = status === "active" ? "grant.activated" : `grant.${status}`;
  const codes = status === "denied" ? { codes: ["grant_denied"] } : {};
  draft.note(registryEvent(change, now, { grant, principal, purpose, ...codes }));
}

/** An agent from now on active, until it is not used, or for its longest time. */
export function activated(
  agent: AgentRecord,
  host: HostRecord,
  now: number,
  { settings }: Pick<RegistryContext, "settings">,
): AgentRecord {
  const { lifetimes } = settings;
  const principal = agent.mode === "delegated" ? host.principal : undefined;
  const lifetime = Math.min(lifetimes.agent, lifetimes.agentMost);
  return {
    ...agent,
    ...(principal === undefined ? {} : { principal }),
    ...{ status: "active", activated: now, updated: now, expires: now + lifetime * 1000 },
  };
}
