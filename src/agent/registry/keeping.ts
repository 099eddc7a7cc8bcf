import type { Actor } from "../approvals/approval-events.js";
import { registryEvent } from "./events.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";

/** Keeps a grant that has changed, and records that. */
export async function keepGrant(
  draft: RegistryDraft,
  grant: AgentGrant,
  { principal, operator }: Actor,
  now: number,
): Promise<void> {
  await draft.put("grants", grant);
  const { status, purpose } = grant;
  const change = status === "active" ? "grant.activated" : `grant.${status}`;
  const codes = status === "denied" ? { codes: ["grant_denied"] } : {};
  draft.note(registryEvent(change, now, { grant, principal, operator, purpose, ...codes }));
}

/** An agent from now on active, until it is not used, or for its longest time. */
export function activated(
  agent: AgentRecord,
  host: HostRecord,
  now: number,
  context: Pick<RegistryContext, "settings">,
): AgentRecord {
  const principal = agent.mode === "delegated" ? host.principal : undefined;
  const active: AgentRecord = { ...agent, status: "active", activated: now, updated: now };
  return {
    ...active,
    ...(principal === undefined ? {} : { principal }),
    expires: expiryOf(active, now, context),
  };
}

/** When an agent that is used now expires. */
export function expiryOf(
  { activated: begun, created }: AgentRecord,
  now: number,
  { settings: { lifetimes } }: Pick<RegistryContext, "settings">,
): number {
  const { agent: idle, agentMost, agentWhole } = lifetimes;
  return Math.min(
    now + idle * 1000,
    (begun ?? created) + agentMost * 1000,
    created + agentWhole * 1000,
  );
}
