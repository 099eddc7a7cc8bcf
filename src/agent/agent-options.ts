import { CAPABILITY_LIMITS } from "../capability/limits.js";
import { assertArray, assertParts, ISSUER, LEDGER, POLICY, REVOCATIONS } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import type { Issuer } from "../issuer/issuer.js";
import type { RevocationSink } from "../revocation/source.js";
import type { ArgumentCheck } from "./arguments.js";
import type { Mode, UndeclaredAmbient } from "./clearance.js";
import type { KnownGrant } from "./grant.js";
import type { Ledger, Observation } from "./ledger.js";
import type { Parties } from "./parties/parties.js";
import type { Policy } from "./policy.js";
import type { ResourceSource } from "./resources/resource.js";
import type { ResourceHandles } from "./resources/resource-handles.js";
import type { ResourceNumbers } from "./resources/resource-numbers.js";
import type { Operation, Skill } from "./skill.js";

export interface IssuingAgentOptions {
  /**
   * The issuer. The agent offers the issuer's grants. Each grant needs a description. Each of its operations must be
   * the operation of a skill, or be listed in `operations`.
   */
  readonly issuer: Issuer;
  /** The store or list to which revocations are written, and in which the issuer looks up revocations. */
  readonly revocations: RevocationSink;
  /**
   * Maximum number of entries in the revocation list that one principal can add through one invoker; 1,000
   * unless given.
   */
  readonly maxRevocations?: number | undefined;
  readonly skills: readonly Skill[];
  /** Operations that no skill has. Code outside the agent runs these operations, after the agent has cleared them. */
  readonly operations?: readonly Operation[];
  readonly policy: Policy;
  /** The source of resources; absent for an agent without resources. */
  readonly resources?: ResourceSource | undefined;
  /**
   * The store of the resource numbers that handles contain. Unless given, the numbers are kept in memory, and
   * all handles become invalid when the process ends.
   */
  readonly resourceNumbers?: ResourceNumbers | undefined;
  readonly ledger: Ledger;
  /** The rule for calls without a capability; `require` unless given. */
  readonly mode?: Mode | undefined;
  /**
   * `refused` if callers must declare that they use ambient authority. Always `refused` in mode `require`; in
   * other modes, `accepted` unless given.
   */
  readonly undeclaredAmbient?: UndeclaredAmbient | undefined;
  /** The name by which the `audience` of a hop refers to this agent; the issuer's name unless given. */
  readonly audience?: string | undefined;
  /**
   * Lifetime of a capability in seconds, if the request has no `expires`. Unless given: 15 minutes, or the issuer's
   * longest lifetime if that is shorter.
   */
  readonly lifetime?: number | undefined;
  /** Maximum number of resources that one capability may name, from 1 to 256; 256 unless given. */
  readonly maxHandles?: number | undefined;
  /** Names of arguments whose values go into the ledger; none unless given. */
  readonly recordValues?: readonly string[] | undefined;
  /**
   * Hosts, agents and approvals. Required if a grant has an `approval`. The parties must have this agent's
   * policy, clock and revocations.
   */
  readonly parties?: Parties | undefined;
  /** Called with every decision, for metrics. */
  readonly observe?: ((observation: Observation) => void) | undefined;
  /** Returns the current time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** Options with their defaults. */
export type SettledOptions = Pick<IssuingAgentOptions, Absent> & {
  readonly [Name in Exclude<keyof IssuingAgentOptions, Absent>]-?: NonNullable<
    IssuingAgentOptions[Name]
  >;
};

type Absent = "resources" | "resourceNumbers" | "parties";

/** The agent's options, and the objects derived from them. */
export interface AgentContext extends Omit<SettledOptions, "skills" | "operations"> {
  readonly grants: ReadonlyMap<string, KnownGrant>;
  readonly skills: ReadonlyMap<string, Skill>;
  /** All operations by name: those of the skills, and those of the option `operations`. */
  readonly operations: ReadonlyMap<string, Operation>;
  readonly checks: ReadonlyMap<string, ArgumentCheck>;
  readonly handles: ResourceHandles;
}

const PARTS = { issuer: ISSUER, revocations: REVOCATIONS, ledger: LEDGER, policy: POLICY };

const OPTIONAL = [
  "maxRevocations",
  "operations",
  "resources",
  "resourceNumbers",
  "mode",
  "undeclaredAmbient",
  "audience",
  "lifetime",
  "maxHandles",
  "recordValues",
  "observe",
  "clock",
  "parties",
];

const DEFAULT_LIFETIME = 15 * 60;

const MAX_HANDLES = CAPABILITY_LIMITS.setMembers;

const MAX_REVOCATIONS = 1000;

/** @throws TypeError naming the option that is wrong. */
export function settledOptions(options: IssuingAgentOptions): SettledOptions {
  assertMembers(options, [...Object.keys(PARTS), "skills", ...OPTIONAL], "options");
  assertParts(options, PARTS);
  assertArray(options.skills, "options.skills", "skills");
  const { issuer, mode = "require" } = options;
  const lifetime = options.lifetime ?? Math.min(DEFAULT_LIFETIME, issuer.maxLifetime);
  const { undeclaredAmbient = mode === "require" ? "refused" : "accepted" } = options;
  if (!["advertise", "prefer", "require"].includes(mode)) {
    throw new TypeError(`mode: must be "advertise", "prefer" or "require"`);
  }
  if (!["accepted", "refused"].includes(undeclaredAmbient)) {
    throw new TypeError(`undeclaredAmbient: must be "accepted" or "refused"`);
  }
  if (mode === "require" && undeclaredAmbient === "accepted") {
    throw new TypeError(
      'undeclaredAmbient: cannot be "accepted", since mode "require" accepts no ambient authority',
    );
  }
  if (!Number.isSafeInteger(lifetime) || lifetime < 1 || lifetime > issuer.maxLifetime) {
    throw new TypeError(`lifetime: must be 1 to ${issuer.maxLifetime} whole seconds`);
  }
  const maxHandles = options.maxHandles ?? MAX_HANDLES;
  if (!Number.isSafeInteger(maxHandles) || maxHandles < 1 || maxHandles > MAX_HANDLES) {
    throw new TypeError(`maxHandles: must be 1 to ${MAX_HANDLES}`);
  }
  const maxRevocations = options.maxRevocations ?? MAX_REVOCATIONS;
  if (!Number.isSafeInteger(maxRevocations) || maxRevocations < 1) {
    throw new TypeError("maxRevocations: must be a whole number of at least 1");
  }
  const { audience = issuer.name, recordValues = [], observe = () => {} } = options;
  const { clock = Date.now, operations = [] } = options;
  return {
    ...options,
    audience,
    lifetime,
    maxHandles,
    maxRevocations,
    mode,
    undeclaredAmbient,
    recordValues,
    observe,
    clock,
    operations,
  };
}

/**
 * Returns the parties of an agent whose grants need approvals.
 *
 * @throws TypeError if the agent has none.
 */
export function partiesOf({
  parties,
}: Pick<AgentContext, "parties">): NonNullable<AgentContext["parties"]> {
  if (parties !== undefined) return parties;
  throw new TypeError("the agent has no parties: createIssuingAgent({ parties })");
}
