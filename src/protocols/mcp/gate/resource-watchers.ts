import type { GateAuthority, Presented } from "../authority/gate-authority.js";
import { OPERATIONS } from "./methods.js";
import { OldestOut } from "./oldest-out.js";
import type { ServerLink } from "./server-link.js";
import type { Servers } from "./servers.js";

/** Maximum number of parties that the gate remembers for one server of a session. */
const MOST_PARTIES = 1000;

/** Remembers the parties that have subscribed to resources with `resources/subscribe`, a method of the old era. */
export class ResourceWatchers {
  readonly #authority: GateAuthority;
  readonly #servers: Servers;
  readonly #parties = new Map<ServerLink, OldestOut<string, Presented>>();

  constructor(authority: GateAuthority, servers: Servers) {
    this.#authority = authority;
    this.#servers = servers;
  }

  /** Remembers that a party has subscribed to a resource of a server. */
  add(link: ServerLink, presented: Presented): void {
    const parties = this.#parties.get(link) ?? new OldestOut(MOST_PARTIES);
    parties.set(this.#authority.holder(presented), presented);
    this.#parties.set(link, parties);
  }

  /** Returns whether the tokens of at least one party that has subscribed at a server still allow the subscription. */
  has(link: ServerLink): boolean {
    const operation = this.#servers.operation(link, OPERATIONS.subscribe);
    const parties = this.#parties.get(link)?.values() ?? [];
    return [...parties].some((presented) => this.#authority.holds(presented, operation));
  }
}
