import { AGENT, assertParts, LEDGER, PARTY_STORE, REVOCATIONS } from "../../checks/kinds.js";
import { assertMembers } from "../../checks/members.js";
import type { Suggest } from "../../checks/nearest.js";
import type {
  RevocationRecords,
  RevocationSink,
  RevocationSource,
} from "../../revocation/source.js";
import type { KnownGrant } from "../grant.js";
import type { IssuingAgent } from "../issuing-agent.js";
import type { Ledger, Observation } from "../ledger.js";
import { MAX_FOUND, type PartyStore } from "../parties/store.js";
import { DEFAULT_TENANT, DelegationAgents, type ListedAgent } from "./agents.js";

/** Options of delegations. */
export interface DelegationOptions {
  /** The agent whose capabilities are delegated. */
  readonly agent: IssuingAgent;
  /** The store of delegations and registered agents, as returned by `openParties`. */
  readonly parties: PartyStore;
  /** The list in which the agent's issuer looks up revocations. New revocations are added to it. */
  readonly revocations: RevocationSource & RevocationSink & RevocationRecords;
  readonly ledger: Ledger;
  /** Agents in addition to registered ones; none unless given. */
  readonly agents?: readonly ListedAgent[] | undefined;
  /** The tenant of listed agents without their own tenant; `default` unless given. */
  readonly tenant?: string | undefined;
  /**
   * True if a delegator may delegate all its scopes. Otherwise it may delegate only a proper subset. `false`
   * unless given.
   */
  readonly allowEqual?: boolean | undefined;
  /** Maximum number of live delegations of one delegator; 1,000 unless given. */
  readonly maxDelegations?: number | undefined;
  /** Maximum number of live revocations in the list that one caller has added; 1,000 unless given. */
  readonly maxRevocations?: number | undefined;
  /** Called with every decision, for metrics. */
  readonly observe?: ((observation: Observation) => void) | undefined;
  /** Returns the current time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** The options with their defaults, and the objects derived from them. */
export interface DelegationContext {
  readonly agent: IssuingAgent;
  readonly parties: PartyStore;
  readonly revocations: RevocationSource & RevocationSink & RevocationRecords;
  readonly ledger: Ledger;
  readonly agents: DelegationAgents;
  readonly scopes: Scopes;
  readonly allowEqual: boolean;
  readonly maxDelegations: number;
  readonly maxRevocations: number;
  readonly observe: (observation: Observation) => void;
  readonly clock: () => number;
}

const PARTS = {
  agent: AGENT,
  parties: PARTY_STORE,
  revocations: REVOCATIONS,
  ledger: LEDGER,
};
const OPTIONAL = [
  "agents",
  "tenant",
  "allowEqual",
  "maxDelegations",
  "maxRevocations",
  "observe",
  "clock",
];
const MOST = MAX_FOUND;

/** @throws TypeError naming the option that is wrong, or the scopes that are ambiguous. */
export function delegationContext(options: DelegationOptions): DelegationContext {
  assertMembers(options, [...Object.keys(PARTS), ...OPTIONAL], "options");
  assertParts(options, PARTS);
  const { agent, parties, revocations, ledger, agents = [], allowEqual = false } = options;
  const { tenant = DEFAULT_TENANT, maxDelegations = MOST, maxRevocations = MOST } = options;
  const { observe = () => {}, clock = Date.now } = options;
  if (!Array.isArray(agents)) throw new TypeError("agents: must be an array");
  if (typeof allowEqual !== "boolean") throw new TypeError("allowEqual: must be a boolean");
  if (typeof tenant !== "string" || tenant === "")
    throw new TypeError("tenant: must be a non-empty string");
  for (const [name, most] of Object.entries({ maxDelegations, maxRevocations })) {
    if (Number.isSafeInteger(most) && most >= 1) continue;
    throw new TypeError(`${name}: must be a whole number of at least 1`);
  }
  // Delegations are counted by one query, which returns at most `MAX_FOUND` records.
  if (maxDelegations > MAX_FOUND) throw new TypeError(`maxDelegations: must be 1 to ${MAX_FOUND}`);
  return {
    agent,
    parties,
    revocations,
    ledger,
    allowEqual,
    maxDelegations,
    maxRevocations,
    observe,
    clock,
    agents: new DelegationAgents(agents, tenant, parties, clock),
    scopes: new Scopes(agent.grants),
  };
}

/** The grant and the operations that a scope means. */
interface ScopeMeaning {
  readonly grant: string;
  readonly operations: readonly string[];
}

type ScopedGrant = Pick<KnownGrant, "id" | "operations">;

/**
 * Scopes: `GRANT` for all operations, `GRANT:OPERATION` for one. A scope is looked up as a whole, since grants
 * may contain colons too.
 */
export class Scopes {
  readonly #meanings = new Map<string, ScopeMeaning>();
  readonly #grants: ReadonlyMap<string, ScopedGrant>;

  /** @throws TypeError naming every scope that would have two meanings. */
  constructor(grants: ReadonlyMap<string, ScopedGrant>) {
    this.#grants = grants;
    const ambiguous: string[] = [];
    for (const { id, operations } of grants.values()) {
      const own = [
        { scope: id, operations },
        ...operations.map((one) => ({ scope: `${id}:${one}`, operations: [one] })),
      ];
      for (const { scope, operations: named } of own) {
        const taken = this.#meanings.get(scope);
        const meaning = { grant: id, operations: named };
        if (taken === undefined) this.#meanings.set(scope, meaning);
        else
          ambiguous.push(`"${scope}" would be ${words(taken, scope)} and ${words(meaning, scope)}`);
      }
    }
    if (ambiguous.length > 0) {
      throw new TypeError(`grants: scopes of delegation are ambiguous: ${ambiguous.join("; ")}`);
    }
  }

  /** @returns `undefined` if `scope` is not a scope. */
  read(scope: string): ScopeMeaning | undefined {
    return this.#meanings.get(scope);
  }

  /** Returns the end of a message that suggests the scope probably meant. */
  hint(scope: string, suggest: Suggest): string {
    const near = suggest(scope, [...this.#meanings.keys()]);
    return near === undefined ? "" : `; did you mean "${near}"?`;
  }

  /**
   * Returns the scopes for operations of a grant. If these are all operations of the grant, returns only the
   * scope of the grant.
   */
  write(grant: string, operations: Iterable<string>): readonly string[] {
    const given = new Set(operations);
    const all = this.#grants.get(grant)?.operations;
    if (all?.every((operation) => given.has(operation)) === true) return [grant];
    return [...given].sort().map((operation) => `${grant}:${operation}`);
  }
}

function words({ grant }: ScopeMeaning, scope: string): string {
  if (scope === grant) return `the grant "${grant}"`;
  return `the operation "${scope.slice(grant.length + 1)}" of the grant "${grant}"`;
}
