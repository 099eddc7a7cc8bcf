import type { Actor } from "../approvals/approval-events.js";
import type { LedgerEvent } from "../ledger.js";
import { isOfUser } from "./looking.js";
import type { AgentGrant, AgentRecord, HostRecord, PublicKey } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";

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

/**
 * Stores a requested grant. The denial of a stranger is not recorded here: anyone can make hosts that ask
 * without end, and the protocol limits what it records of them.
 */
export async function keepAsked(
  draft: RegistryDraft,
  grant: AgentGrant,
  host: HostRecord,
  by: Actor,
  now: number,
): Promise<void> {
  if (grant.status === "denied" && !isOfUser(host)) return draft.put("grants", grant);
  return keepGrant(draft, grant, by, now);
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

/** A host with another key in place of any that it has. */
export function withKey(host: HostRecord, given: PublicKey, proven: boolean): HostRecord {
  const { key: _, thumbprint: _old, unproven: _other, ...rest } = host;
  return proven ? { ...rest, ...given } : { ...rest, unproven: given };
}

/** Returns when an agent that is used now expires. */
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

export interface Concerned {
  /** The id of the record. */
  readonly record?: string | undefined;
  readonly principal?: string | undefined;
  /** True if an operator of this installation did it. */
  readonly operator?: boolean | undefined;
  /** The agent's id. */
  readonly agent?: string | undefined;
  readonly grant?: AgentGrant | undefined;
  readonly purpose?: string | undefined;
  /** The reason of a refusal; absent for a completed action. */
  readonly codes?: readonly string[] | undefined;
}

/**
 * An event of the registry, for the ledger.
 *
 * @param change - Such as `agent.activated`.
 * @param now - Milliseconds since 1970.
 */
export function registryEvent(change: string, now: number, about: Concerned): LedgerEvent {
  const {
    record = about.grant?.id,
    principal,
    operator,
    agent = about.grant?.agent,
    grant,
    purpose,
    codes,
  } = about;
  return {
    kind: "registration",
    at: new Date(now).toISOString(),
    change,
    decision: codes === undefined ? "allowed" : "refused",
    ...(record === undefined ? {} : { record }),
    ...(principal === undefined ? {} : { principal }),
    ...(operator === true ? { operator } : {}),
    ...(agent === undefined ? {} : { invoker: agent }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(codes === undefined ? {} : { codes }),
    ...(grant === undefined
      ? {}
      : {
          capability: grant.capabilityId,
          grant: grant.grant,
          operation: grant.operation,
          skill: grant.capability,
        }),
  };
}
