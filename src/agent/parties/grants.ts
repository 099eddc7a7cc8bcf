// Grants of agents: their current state, new grants, and how they end.

import { newCapabilityId } from "../../capability/mint.js";
import type { Hop } from "../../caveats/hop.js";
import { forInvoker } from "../policy.js";
import { groupsByLimits, hopsOfLimits, permittingGroups } from "../policy-limits.js";
import { currentAgent, principalOfAgent } from "./agents.js";
import { newId, type PartiesContext } from "./context.js";
import { type Actor, partyEvent } from "./events.js";
import { isUsersHost } from "./hosts.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { Wanted } from "./requests.js";
import { everyRecord, type PartyDraft } from "./store.js";
import type { CapabilityTerm } from "./terms.js";

/** A grant with its agent and host. */
export interface ListedGrant {
  readonly grant: AgentGrant;
  readonly agent: AgentRecord;
  readonly host: HostRecord;
}

/**
 * Returns a grant in its current state. A grant that has ended is returned as revoked, even if its record says
 * active.
 */
export function currentGrant(
  grant: AgentGrant,
  context: Pick<PartiesContext, "clock" | "terms" | "revocations">,
): AgentGrant {
  if (grant.status !== "active") return grant;
  const reason = !isGrantLive(grant, context.clock())
    ? "it expired"
    : isGrantRevoked(grant, context)
      ? "it was revoked"
      : isGrantOffered(grant, context)
        ? undefined
        : NOT_OFFERED;
  return reason === undefined ? grant : { ...grant, status: "revoked", reason };
}

/**
 * True if the revocation list ends an active grant: its capability is revoked, or all capabilities of its
 * principal are revoked.
 */
export function isGrantRevoked(
  grant: AgentGrant,
  { revocations }: Pick<PartiesContext, "revocations">,
): boolean {
  const { capabilityId: capability, principal, updated: issued } = grant;
  const who = principal === undefined ? {} : { principal };
  return revocations.find({ links: [], keys: [], capability, issued, ...who }).length > 0;
}

/**
 * Returns the names of the capabilities whose grants the revocation list has ended. Call this function before a
 * transaction that ends grants for other reasons, since that transaction adds entries to the list.
 *
 * @param kept - The stored grants of an agent.
 */
export function revokedCapabilities(
  kept: readonly AgentGrant[],
  context: Pick<PartiesContext, "revocations">,
): readonly string[] {
  return kept
    .filter((grant) => grant.status === "active" && isGrantRevoked(grant, context))
    .map(({ capability }) => capability);
}

/** Returns whether a grant's record allows its use. */
function isGrantLive(grant: AgentGrant, now: number): boolean {
  return grant.status === "active" && (grant.expires === undefined || grant.expires > now);
}

/** Returns whether a grant's capability is still offered, with the same name and under the same grant. */
export function isGrantOffered(
  { capability, grant, operation }: Pick<AgentGrant, "capability" | "grant" | "operation">,
  { terms }: Pick<PartiesContext, "terms">,
): boolean {
  // Without capability terms, nobody can tell which capabilities are offered, so treat every capability as offered.
  if (terms === undefined) return true;
  const term = terms.get(capability);
  return term?.grant === grant && term.operation === operation;
}

/** The reason for ending a grant whose capability was removed or moved to another grant. */
export const NOT_OFFERED = "the capability is no longer offered";

/** Returns all active grants on behalf of a user. */
export async function activeGrantsOf(
  principal: string,
  context: PartiesContext,
): Promise<readonly ListedGrant[]> {
  return context.store.read(async (view) => {
    const listed: ListedGrant[] = [];
    for (const kept of await everyRecord(view.agents, { principal })) {
      const agent = currentAgent(kept, context);
      if (agent.status !== "active" && agent.status !== "expired") continue;
      const host = await view.hosts.get(agent.host);
      if (host === undefined) continue;
      for (const grant of await everyRecord(view.grants, { agent: agent.id })) {
        if (currentGrant(grant, context).status === "active") listed.push({ grant, agent, host });
      }
    }
    return listed;
  });
}

/** Capabilities by name, each with the hops for the policy's limits on its arguments. */
export type PermittedCapabilities = ReadonlyMap<string, readonly Hop[]>;

/**
 * Returns the capabilities that the policy permits a principal through this agent. Returns all capabilities if
 * there is no policy or no principal yet. If permissions with different limits permit a capability, the limits of the
 * first one apply.
 */
export async function permittedCapabilities(
  principal: string | undefined,
  agent: string,
  wanted: readonly Pick<CapabilityTerm, "name" | "grant" | "operation">[],
  { policy }: Pick<PartiesContext, "policy">,
): Promise<PermittedCapabilities> {
  if (policy === undefined || principal === undefined)
    return new Map(wanted.map(({ name }) => [name, []]));
  const permitted = new Map<string, readonly Hop[]>();
  for (const { name, grant, operation } of wanted) {
    const permissions = forInvoker(await policy.permissions(principal, grant), agent);
    const [group] = permittingGroups(groupsByLimits(permissions), operation, {});
    if (group !== undefined) permitted.set(name, hopsOfLimits(group.limits, [operation]));
  }
  return permitted;
}

/** The values that the decision about a requested grant depends on. */
interface GrantingCase {
  readonly host: HostRecord;
  readonly agent: AgentRecord;
  /** The host's defaults that still apply. */
  readonly defaults: readonly string[];
  /** The capabilities that the policy permits. */
  readonly permitted: PermittedCapabilities;
}

/** Returns the first status of a requested grant: active, pending or denied. */
export function initialStatus(
  { name, approval }: CapabilityTerm,
  { host, agent, defaults, permitted }: GrantingCase,
): Pick<AgentGrant, "status" | "reason"> {
  if (!permitted.has(name)) return { status: "denied", reason: POLICY_DENIES };
  const isDefault =
    defaults.includes(name) && approval === undefined && !agent.withheld?.includes(name);
  const linked = host.status === "active" && host.principal !== undefined;
  if (agent.mode === "autonomous") {
    if (isDefault) return { status: "active" };
    const reason =
      "an autonomous agent gets its host's defaults alone: there is no user to approve anything else";
    return { status: "denied", reason };
  }
  return { status: isDefault && linked ? "active" : "pending" };
}

/** The reason for a denial by the policy. */
export const POLICY_DENIES = "the policy does not permit it";

export function newGrant(
  { term, hops }: Wanted,
  { agent, host }: Pick<GrantingCase, "agent" | "host">,
  { status, reason }: Pick<AgentGrant, "status" | "reason">,
  purpose: string | undefined,
  context: Pick<PartiesContext, "clock" | "random" | "settings">,
): AgentGrant {
  const now = context.clock();
  const { settings, random } = context;
  const active = (): Pick<AgentGrant, "principal" | "expires"> => ({
    principal: principalOfAgent(agent, host),
    expires: grantExpiry(hops, now, settings.lifetimes.grant),
  });
  return {
    id: newId("grant", context),
    agent: agent.id,
    host: agent.host,
    capability: term.name,
    grant: term.grant,
    operation: term.operation,
    status,
    hops,
    capabilityId: newCapabilityId(random),
    ...(purpose === undefined ? {} : { purpose }),
    ...(reason === undefined ? {} : { reason }),
    created: now,
    updated: now,
    ...(status === "active" ? active() : {}),
  };
}

/**
 * Returns the expiry of a grant that is activated at `now`: the end of its lifetime, or the earliest expiry of
 * a hop.
 */
export function grantExpiry(hops: AgentGrant["hops"], now: number, lifetime: number): number {
  const ends = hops.flatMap(({ hop }) =>
    hop.expires === undefined ? [] : [Date.parse(hop.expires)],
  );
  return Math.min(now + lifetime * 1000, ...ends);
}

/**
 * Stores a requested grant. A denial to an unlinked host is not recorded by this function, because anyone can
 * make such hosts and send any number of requests. The server of the protocol records a limited number of them.
 */
export async function keepAskedGrant(
  draft: PartyDraft,
  grant: AgentGrant,
  host: HostRecord,
  by: Actor,
  now: number,
): Promise<void> {
  if (grant.status === "denied" && !isUsersHost(host)) return draft.put("grants", grant);
  return keepGrant(draft, grant, by, now);
}

export async function keepGrant(
  draft: PartyDraft,
  grant: AgentGrant,
  { principal, operator }: Actor,
  now: number,
): Promise<void> {
  await draft.put("grants", grant);
  const { status, purpose } = grant;
  const change = status === "active" ? "grant.activated" : `grant.${status}`;
  const codes = status === "denied" ? { codes: ["grant_denied"] } : {};
  draft.note(partyEvent(change, now, { grant, principal, operator, purpose, ...codes }));
}

/** The actor and the time of a change, in milliseconds since 1970. */
export interface Change {
  readonly by: Actor;
  readonly now: number;
}

/**
 * Revokes those active and pending grants of an agent that `concerned` selects; all of them unless given.
 * @returns The revoked grants as they were before.
 */
export async function endGrants(
  draft: PartyDraft,
  agent: AgentRecord,
  { reason, by: { operator }, now }: Change & { readonly reason: string },
  { store }: Pick<PartiesContext, "store">,
  concerned: (grant: AgentGrant) => boolean = () => true,
): Promise<readonly AgentGrant[]> {
  const all = await everyRecord(draft.grants, { agent: agent.id });
  const living = all.filter(({ status }) => status === "active" || status === "pending");
  const ended = living.filter(concerned);
  for (const grant of ended) {
    if (isGrantLive(grant, now)) store.ends(draft, grant);
    const revoked: AgentGrant = { ...grant, status: "revoked", reason, updated: now };
    await keepGrant(draft, revoked, { principal: agent.principal, operator }, now);
  }
  return ended;
}

/**
 * Maximum number of stored ended grants of one agent, and of stored ended agents of one host. Without it, an
 * agent that requests and revokes in turn could fill the database within the retention time. The ledger keeps
 * the events of removed records.
 */
export const ENDED_KEPT = 500;

/** Maximum number of grants that one transaction removes. */
const GRANTS_AT_ONCE = 100;

/**
 * Removes the oldest ended grants of an agent and their approvals, if there are more than {@link ENDED_KEPT}.
 *
 * @param all - The agent's grants, as read in this transaction.
 */
export async function forgetGrants(
  draft: PartyDraft,
  all: readonly AgentGrant[],
  now: number,
): Promise<void> {
  const ended = all
    .filter((grant) => grant.status !== "pending" && !isGrantLive(grant, now))
    .sort((a, b) => a.updated - b.updated);
  const surplus = Math.max(0, ended.length - ENDED_KEPT);
  await removeGrants(draft, all, ended.slice(0, Math.min(GRANTS_AT_ONCE, surplus)));
}

export async function removeGrants(
  draft: PartyDraft,
  all: readonly AgentGrant[],
  removed: readonly AgentGrant[],
): Promise<void> {
  for (const grant of removed) await draft.remove("grants", grant);
  const left = new Set(all.filter((one) => !removed.includes(one)).map(({ approval }) => approval));
  for (const id of new Set(removed.flatMap(({ approval = [] }) => approval))) {
    const approval = left.has(id) ? undefined : await draft.approvals.get(id);
    if (approval === undefined) continue;
    if (approval.state === "pending" || approval.state === "approved") continue;
    await draft.remove("approvals", approval);
  }
}
