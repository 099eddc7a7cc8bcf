import { assertMembers } from "../../checks/members.js";
import type { PartyStore } from "../parties/store.js";

/** An agent that the operator lists, in addition to registered ones. */
export interface ListedAgent {
  /** The agent's id in delegations. */
  readonly id: string;
  /** The name with which the agent authenticates, as in hops and access tokens; the agent's id unless given. */
  readonly invoker?: string;
  /** The agent's tenant; {@link DelegationOptions.tenant} unless given. */
  readonly tenant?: string;
}

/** An agent that can delegate, or be delegated to. */
export interface KnownAgent {
  readonly id: string;
  readonly invoker: string;
  readonly tenant: string;
  /** True if the agent may act now. */
  readonly active: boolean;
}

/** The tenant of agents without an explicit one. */
export const DEFAULT_TENANT = "default";

const MEMBERS = ["id", "invoker", "tenant"];

/**
 * Finds an agent among those that the operator lists, then among registered agents. The id of a registered
 * agent is also its invoker name.
 */
export class DelegationAgents {
  readonly #byId = new Map<string, KnownAgent>();
  readonly #byInvoker = new Map<string, KnownAgent>();
  readonly #parties: PartyStore;
  readonly #clock: () => number;

  /** @throws TypeError naming the agent that is wrong, such as `agents[1].id`. */
  constructor(
    listed: readonly ListedAgent[],
    tenant: string,
    parties: PartyStore,
    clock: () => number,
  ) {
    this.#parties = parties;
    this.#clock = clock;
    for (const [at, agent] of listed.entries()) {
      const where = `agents[${at}]`;
      assertMembers(agent, MEMBERS, where);
      const { id, invoker = id, tenant: own = tenant } = agent;
      for (const [name, value] of Object.entries({ id, invoker, tenant: own })) {
        if (typeof value !== "string" || value === "") {
          throw new TypeError(`${where}.${name}: must be a non-empty string`);
        }
      }
      const known = Object.freeze({ id, invoker, tenant: own, active: true });
      for (const [name, value, taken] of [
        ["id", id, this.#byId],
        ["invoker", invoker, this.#byInvoker],
      ] as const) {
        if (taken.has(value)) throw new TypeError(`${where}.${name}: "${value}" is taken`);
        taken.set(value, known);
      }
    }
  }

  /** @throws StorageError */
  async byId(id: string): Promise<KnownAgent | undefined> {
    return this.#byId.get(id) ?? this.#registered(id);
  }

  /** @throws StorageError */
  async byInvoker(invoker: string): Promise<KnownAgent | undefined> {
    return this.#byInvoker.get(invoker) ?? this.#registered(invoker);
  }

  async #registered(id: string): Promise<KnownAgent | undefined> {
    const agent = await this.#parties.read((view) => view.agents.get(id));
    if (agent === undefined) return undefined;
    const { tenant, status, expires = Number.POSITIVE_INFINITY } = agent;
    return { id, invoker: id, tenant, active: status === "active" && this.#clock() < expires };
  }
}
