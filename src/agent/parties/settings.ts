// Settings of parties: lifetimes, limits, defaults, and the operator's constraints.

import type { Constraint, Hop } from "../../caveats/hop.js";
import { normalizeHop } from "../../caveats/write-hop.js";
import { assertMembers, meant } from "../../checks/members.js";
import { texts } from "../../issuer/grant.js";
import { checkApprovalRule } from "./approval-rules.js";
import type { AgentMode, ApprovalRule } from "./records.js";
import type { CapabilityTerms } from "./terms.js";

interface PartyLifetimes {
  /** Seconds from an agent's last use to its expiry; 1 hour unless given. */
  readonly agent?: number;
  /** Seconds from an agent's activation to its expiry, even if the agent is used; 1 day unless given. */
  readonly agentMost?: number;
  /** Seconds from an agent's registration to its final revocation; never revoked unless given. */
  readonly agentWhole?: number;
  /** Lifetime of a grant in seconds; 1 day unless given. */
  readonly grant?: number;
  /** Seconds until an undecided request expires; 5 minutes unless given. */
  readonly approval?: number;
  /** Seconds in which a host that a user created must present its key; 1 hour unless given. */
  readonly enrolment?: number;
}

interface PartyBounds {
  /** Maximum number of unlinked hosts that may register within an hour; 1,000 unless given. */
  readonly pendingHosts?: number;
  /**
   * Maximum number of unlinked hosts that may register within an hour from one IPv4 address, or from one IPv6
   * network of 64 bits; 20 unless given.
   */
  readonly pendingHostsPerAddress?: number;
  /**
   * Maximum number of unlinked hosts that may register within an hour from one network of 24 bits in IPv4, or
   * of 48 bits in IPv6; 100 unless given.
   */
  readonly pendingHostsPerNetwork?: number;
  /**
   * Maximum number of agents of one host; 100 unless given. Counts live agents, and agents registered within
   * the last hour.
   */
  readonly agentsPerHost?: number;
  /** Maximum number of active and pending grants of one agent; 256 unless given. */
  readonly grantsPerAgent?: number;
  /** Maximum number of requests of one agent that wait for a decision; 8 unless given. */
  readonly pendingPerAgent?: number;
  /** Maximum number of requests of all agents of one host that wait for a decision; 32 unless given. */
  readonly pendingPerHost?: number;
  /**
   * Maximum number of requests of unlinked hosts in the list of a user that they name; 64 unless given. Further
   * requests are found only by their user code.
   */
  readonly pendingPerUser?: number;
  /** Maximum number of live hosts of one user; 100 unless given. */
  readonly hostsPerUser?: number;
}

export interface PartySettings {
  /** The tenant; `default` unless given. */
  readonly tenant?: string;
  /** Capabilities that agents of linked hosts get without an approval; none unless given. */
  readonly defaults?: readonly string[];
  /** Names in `defaults` that are allowed even if the capability may do more than read, or is legacy. */
  readonly allowedDefaults?: readonly string[];
  /** The allowed modes; both unless given. */
  readonly modes?: readonly AgentMode[];
  readonly lifetimes?: PartyLifetimes;
  /** The approvers of agents' requests; unless given, the user on whose behalf the agent sends the request. */
  readonly approval?: ApprovalRule;
  /** True if hosts may register themselves and agents, which then wait for a user's approval; `true` unless given. */
  readonly allowHosts?: boolean;
  /** Limits on arguments, by capability name, in addition to those of agents and approvers. */
  readonly constraints?: {
    readonly [capability: string]: { readonly [argument: string]: Constraint };
  };
  readonly bounds?: PartyBounds;
}

/** Settings with their defaults. */
export interface SettledSettings {
  readonly tenant: string;
  readonly defaults: readonly string[];
  readonly modes: readonly AgentMode[];
  readonly lifetimes: Required<PartyLifetimes>;
  readonly approval: ApprovalRule;
  readonly allowHosts: boolean;
  /** The hop with the operator's constraints, by capability name. */
  readonly constraints: ReadonlyMap<string, Hop>;
  readonly bounds: Required<PartyBounds>;
}

const MEMBERS = [
  "tenant",
  "defaults",
  "allowedDefaults",
  "modes",
  "lifetimes",
  "approval",
  "allowHosts",
  "constraints",
  "bounds",
];

const HOUR = 60 * 60;

const DAY = 24 * HOUR;

const LIFETIMES: Required<PartyLifetimes> = {
  agent: HOUR,
  agentMost: DAY,
  agentWhole: Number.POSITIVE_INFINITY,
  grant: DAY,
  approval: 300,
  enrolment: HOUR,
};

const LONGEST = 366 * DAY;

const BOUNDS: Required<PartyBounds> = {
  pendingHosts: 1000,
  pendingHostsPerAddress: 20,
  pendingHostsPerNetwork: 100,
  agentsPerHost: 100,
  grantsPerAgent: 256,
  pendingPerAgent: 8,
  pendingPerHost: 32,
  pendingPerUser: 64,
  hostsPerUser: 100,
};

const MODES: readonly AgentMode[] = ["delegated", "autonomous"];

/**
 * @param terms - The capabilities. Absent if records are only read; then the names of capabilities are not
 *   checked.
 * @throws TypeError naming the setting that is wrong, such as `settings.defaults[1]`.
 */
export function settledSettings(
  settings: PartySettings,
  terms: CapabilityTerms | undefined,
): SettledSettings {
  assertMembers(settings, MEMBERS, "settings");
  const { tenant = "default", modes = MODES, approval = {}, allowHosts = true } = settings;
  if (typeof tenant !== "string" || tenant === "") {
    throw new TypeError("settings.tenant: must be a non-empty string");
  }
  if (typeof allowHosts !== "boolean")
    throw new TypeError("settings.allowHosts: must be a boolean");
  const strange = texts(modes, "settings.modes").find((mode) => !MODES.some((one) => one === mode));
  if (strange !== undefined || modes.length === 0) {
    throw new TypeError('settings.modes: must be "delegated", "autonomous", or both');
  }
  checkApprovalRule(approval, "settings.approval");
  return {
    tenant,
    modes,
    approval,
    allowHosts,
    defaults: checkedDefaults(settings, terms),
    lifetimes: checkedNumbers(settings.lifetimes, LIFETIMES, LONGEST, "settings.lifetimes"),
    constraints: constraintHops(settings.constraints, terms),
    bounds: checkedNumbers(settings.bounds, BOUNDS, Number.MAX_SAFE_INTEGER, "settings.bounds"),
  };
}

function checkedDefaults(
  { defaults = [], allowedDefaults = [] }: PartySettings,
  terms: CapabilityTerms | undefined,
): readonly string[] {
  const allowed = texts(allowedDefaults, "settings.allowedDefaults");
  const names = [...new Set(texts(defaults, "settings.defaults"))];
  if (terms === undefined) return names;
  for (const [at, name] of names.entries()) {
    const where = `settings.defaults[${at}]`;
    const term = knownTerm(name, terms, where);
    if (allowed.includes(name)) continue;
    const why = term.legacy
      ? "is legacy"
      : term.effect === "read"
        ? undefined
        : `may ${term.effect}`;
    if (why === undefined) continue;
    throw new TypeError(
      `${where}: "${name}" ${why}, and every agent of a linked host would get it unasked; ` +
        "name it in allowedDefaults too if that is meant",
    );
  }
  for (const [at, name] of allowed.entries()) {
    knownTerm(name, terms, `settings.allowedDefaults[${at}]`);
  }
  return names;
}

function knownTerm(name: string, terms: CapabilityTerms, where: string) {
  const term = terms.get(name);
  if (term !== undefined) return term;
  throw new TypeError(
    `${where}: there is no capability "${name}"${meant(name, [...terms.keys()])}`,
  );
}

function constraintHops(
  constraints: PartySettings["constraints"] = {},
  terms: CapabilityTerms | undefined,
): ReadonlyMap<string, Hop> {
  if (typeof constraints !== "object" || constraints === null) {
    throw new TypeError("settings.constraints: must be an object");
  }
  return new Map(
    Object.entries(constraints).map(([name, limits]) => {
      const where = `settings.constraints.${name}`;
      if (terms !== undefined) knownTerm(name, terms, where);
      try {
        return [name, normalizeHop({ constraints: limits })];
      } catch (error) {
        if (error instanceof TypeError) throw new TypeError(`${where}: ${error.message}`);
        throw error;
      }
    }),
  );
}

function checkedNumbers<Of extends { readonly [name: string]: number }>(
  given: { readonly [Name in keyof Of]?: number } | undefined,
  standard: Of,
  most: number,
  where: string,
): Of {
  if (given === undefined) return standard;
  assertMembers(given, Object.keys(standard), where);
  for (const [name, value] of Object.entries<unknown>(given)) {
    if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most) continue;
    throw new TypeError(`${where}.${name}: must be a whole number from 1 to ${most}`);
  }
  return { ...standard, ...given };
}
