import type { GateAuthority, Presented } from "../authority/gate-authority.js";
import { OPERATIONS } from "./methods.js";
import { OldestOut } from "./oldest-out.js";
import type { ServerLink } from "./server-link.js";
import type { Servers } from "./servers.js";

/** Parties of one session. */
const MOST_PARTIES = 1000;

/** The parties that have subscribed to resources by `resources/subscribe`, which the old era has. */
export class ResourceWatchers {
  readonly #authority: GateAuthority;
  readonly #servers: Servers;
  readonly #parties = new Map<ServerLink, OldestOut<string, Presented>>();

  constructor(authority: GateAuthority, servers: Servers) {
    this.#authority = authority;
    this.#servers = servers;
  }

  /** Notes that a party has subscribed to a resource of a server. */
  add(link: ServerLink, presented: Presented): void {
    const parties = this.#parties.get(link) ?? new OldestOut(MOST_PARTIES);
    parties.set(this.#authority.holder(presented), presented);
    this.#parties.set(link, parties);
  }

  /** Returns whether a party that has subscribed at a server still may. */
  has(link: ServerLink): boolean {
    const operation = this.#servers.operation(link, OPERATIONS.subscribe);
    const parties = this.#parties.get(link)?.values() ?? [];
    return [...parties].some((presented) => this.#authority.holds(presented, operation));
  }
}
