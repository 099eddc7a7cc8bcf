import { encodeBase64url } from "../../bytes/base64.js";
import { canonicalJson, type Json } from "../../bytes/json.js";
import { newCapabilityId } from "../../capability/mint.js";
import type { Authority } from "../../caveats/authority.js";
import { allows, type Domain, isEmpty } from "../../caveats/domain.js";
import type { Hop } from "../../caveats/hop.js";
import { meetOf } from "../../caveats/meet.js";
import { authorityOver, limitsArguments } from "../../caveats/operation-authority.js";
import type { Scalar } from "../../caveats/scalar.js";
import { formatTime } from "../../caveats/time.js";
import { forInvoker, permitsOperation } from "../policy.js";
import type { Wanted } from "./asking.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import type { CapabilityTerm } from "./terms.js";

/** The principal that an agent acts for: a user, or without a user, its host. */
export function principalOfAgent(agent: AgentRecord, host: HostRecord): string {
  const user = agent.mode === "delegated" ? host.principal : undefined;
  return agent.principal ?? user ?? autonomousPrincipal(host.id);
}

/** The prefix by which policies and ledgers name agents without a user. */
export function autonomousPrincipal(host: string): string {
  return `autonomous:${host}`;
}

/** A new record's id: 128 random bits. */
export function newId(kind: string, { random }: Pick<RegistryContext, "random">): string {
  return `${kind}_${encodeBase64url(random(16))}`;
}

/**
 * Returns what the policy permits a principal through this agent; everything without a policy, or before there
 * is a principal.
 */
export async function permittedOf(
  principal: string | undefined,
  agent: string,
  wanted: readonly Pick<CapabilityTerm, "name" | "grant" | "operation">[],
  { policy }: Pick<RegistryContext, "policy">,
): Promise<ReadonlySet<string>> {
  if (policy === undefined || principal === undefined)
    return new Set(wanted.map(({ name }) => name));
  const permitted = new Set<string>();
  for (const { name, grant, operation } of wanted) {
    const permissions = forInvoker(await policy.permissions(principal, grant), agent);
    if (permitsOperation(permissions, operation)) permitted.add(name);
  }
  return permitted;
}

/** The values that the decision about a requested grant depends on. */
interface GrantingCase {
  readonly host: HostRecord;
  readonly agent: AgentRecord;
  /** The host's defaults that still are. */
  readonly defaults: readonly string[];
  /** The names that the policy permits. */
  readonly permitted: ReadonlySet<string>;
}

/** The outcome of a requested capability: granted at once, after an approval, or never. */
export function standingOf(
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

/** The reason of a denial by the policy. */
export const POLICY_DENIES = "the policy does not permit it";

export function newGrant(
  { term, hops }: Wanted,
  { agent, host }: Pick<GrantingCase, "agent" | "host">,
  { status, reason }: Pick<AgentGrant, "status" | "reason">,
  purpose: string | undefined,
  context: Pick<RegistryContext, "clock" | "random" | "settings">,
): AgentGrant {
  const now = context.clock();
  const { settings, random } = context;
  const active = (): Pick<AgentGrant, "principal" | "expires"> => ({
    principal: principalOfAgent(agent, host),
    expires: endOf(hops, now, settings.lifetimes.grant),
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

/** Returns when a grant that becomes active now expires: after its lifetime, or where a hop says so earlier. */
export function endOf(hops: AgentGrant["hops"], now: number, lifetime: number): number {
  const ends = hops.flatMap(({ hop }) =>
    hop.expires === undefined ? [] : [Date.parse(hop.expires)],
  );
  return Math.min(now + lifetime * 1000, ...ends);
}

/** Returns whether a grant is of the same capability as is wanted, and allows the agent all that it wants now. */
export function coversWanted(grant: AgentGrant, { term, hops }: Wanted, now: number): boolean {
  if (grant.capability !== term.name || grant.grant !== term.grant) return false;
  if (grant.operation !== term.operation) return false;
  const granted = grant.hops.map(({ hop }) => hop);
  // An agent cannot ask for a grant that is not bound to it, so one that is bound counts as requested.
  const asked = [...hops.map(({ hop }) => hop), { invokers: [grant.agent] }];
  return covers(granted, asked, term.operation, now);
}

/** Returns whether a grant can be used, as far as it says itself. */
export function isLive(grant: AgentGrant, now: number): boolean {
  return grant.status === "active" && (grant.expires === undefined || grant.expires > now);
}

/** True if what a grant is of can be had: the capability of its name is there, under the same grant. */
export function isOffered(
  { capability, grant, operation }: Pick<AgentGrant, "capability" | "grant" | "operation">,
  { terms }: Pick<RegistryContext, "terms">,
): boolean {
  // Where only records are looked at, no capabilities are known.
  if (terms === undefined) return true;
  const term = terms.get(capability);
  return term?.grant === grant && term.operation === operation;
}

/** The reason for ending a grant whose capability was removed, or now belongs to another grant. */
export const NOT_OFFERED = "the capability is not offered any more";

/** An agent to which people have revoked or denied capabilities: they are no defaults of it any more. */
export function withholding(agent: AgentRecord, names: readonly string[]): AgentRecord {
  const { withheld = [] } = agent;
  const more = names.filter((name) => !withheld.includes(name));
  return more.length === 0 ? agent : { ...agent, withheld: [...withheld, ...new Set(more)] };
}

/**
 * Returns whether the hops of `granted` together allow every call that `asked` allows. Exact for `constraints`.
 * If single operations are limited, true only if `granted` has no further limit. Other restrictions must be
 * equal.
 *
 * @param operation - The one operation concerned.
 */
export function covers(
  granted: readonly Hop[],
  asked: readonly Hop[],
  operation: string,
  now: number,
): boolean {
  const wide = meetOf([granted]);
  const narrow = meetOf([asked]);
  const time = formatTime(now);
  if (wide.operations?.includes(operation) === false) return false;
  if (wide.expires !== undefined && wide.expires <= time) return false;
  if (wide.notBefore !== undefined && wide.notBefore > time) return false;
  for (const key of ["audience", "invokers"] as const) {
    const most = wide[key];
    if (most !== undefined && !(narrow[key]?.every((one) => most.includes(one)) ?? false))
      return false;
  }
  const limits = new Map(Object.entries(narrow.constraints ?? {}));
  const isWithin = Object.entries(wide.constraints ?? {}).every(([argument, domain]) => {
    const own = limits.get(argument);
    return own !== undefined && contains(domain, own);
  });
  const { constraints: _, ...others } = wide;
  if (!isWithin || !limitsArguments(others, operation)) return isWithin;
  // If both have limits for the operation, `granted` covers only what it does not limit further.
  return leftTo(operation, narrow) === leftTo(operation, meetOf([granted, asked]));
}

/** Returns the arguments that an authority allows for an operation, in a comparable form. */
function leftTo(operation: string, authority: Authority): string {
  const { limited, closed = null } = authorityOver(operation, authority);
  // A domain holds nothing but JSON.
  return canonicalJson([Object.fromEntries(limited) as unknown as Json, closed]);
}

function contains(wide: Domain, narrow: Domain): boolean {
  if (isEmpty(narrow)) return true;
  if (narrow.in !== undefined) return narrow.in.every((value) => allows(wide, value));
  const excluded = (value: Scalar): boolean => !allows(narrow, value);
  return narrow.types.every((type) => {
    if (!wide.types.includes(type)) return false;
    if (type === "null") return allows(wide, null);
    if (type === "boolean") {
      return [true, false].every((value) => excluded(value) || allows(wide, value));
    }
    const single = type === "number" && narrow.min !== undefined && narrow.min === narrow.max;
    if (single) return narrow.min === undefined || allows(wide, narrow.min);
    // What is left of texts, and of numbers between two bounds, no list names in full.
    if (wide.in !== undefined) return false;
    const others = (wide.not_in ?? []).filter((value) => typeof value === type);
    if (!others.every(excluded)) return false;
    if (type === "string") return true;
    const { min = LEAST, max = MOST } = narrow;
    return min >= (wide.min ?? LEAST) && max <= (wide.max ?? MOST);
  });
}

const LEAST = Number.NEGATIVE_INFINITY;
const MOST = Number.POSITIVE_INFINITY;
