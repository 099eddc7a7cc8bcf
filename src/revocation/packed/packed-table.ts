import type { KeptRevocation, RevocationEntry, RevocationKind } from "../entry.js";
import { concerns, eachThing, type RevocationQuery } from "../source.js";
import { PackedIds } from "./packed-ids.js";

/** What is kept of a thing that is not packed; times are whole seconds since 1970. */
export interface LooseRecord {
  readonly before: number | undefined;
  /** `Infinity` for never. */
  readonly until: number;
}

/** Loose entries that are worked through at once. */
const SOME = 1000;

/**
 * What a list revokes, and until when: enough for a check, and no more. Ids of links and capabilities are packed;
 * keys, principals and ids of another form, of which there are few, are in maps.
 */
export class PackedTable {
  readonly links: PackedIds;
  readonly capabilities: PackedIds;
  readonly #loose: Readonly<Record<RevocationKind, Map<string, LooseRecord>>> = {
    link: new Map(),
    capability: new Map(),
    key: new Map(),
    principal: new Map(),
  };

  /** @param links,capabilities - What it starts from. */
  constructor(
    links: PackedIds = new PackedIds("rv_"),
    capabilities: PackedIds = new PackedIds("cap_"),
  ) {
    this.links = links;
    this.capabilities = capabilities;
  }

  get size(): number {
    const packed = this.links.size + this.capabilities.size;
    return Object.values(this.#loose).reduce((sum, { size }) => sum + size, packed);
  }

  /** Adds to what is known of a thing: what either says is revoked, for as long as either says. */
  add({ kind, id, record }: Pick<KeptRevocation, "kind" | "id" | "record">): void {
    const until = record.until ?? Number.POSITIVE_INFINITY;
    if (this.#packedOf(kind)?.add(id, until) === true) return;
    this.addLoose(kind, id, { before: record.before, until });
  }

  /** Adds what is not packed. */
  addLoose(kind: RevocationKind, id: string, { before, until }: LooseRecord): void {
    const known = this.#loose[kind].get(id);
    this.#loose[kind].set(id, {
      before: before === undefined ? undefined : Math.max(before, known?.before ?? before),
      until: Math.max(until, known?.until ?? until),
    });
  }

  /** The kind and id of every entry that concerns the token. */
  find(query: RevocationQuery): RevocationEntry[] {
    const found: RevocationEntry[] = [];
    eachThing(query, (kind, id) => {
      const loose = this.#loose[kind].get(id);
      const isFound =
        loose === undefined ? this.#packedOf(kind)?.get(id) !== undefined : concerns(loose, query);
      if (isFound) found.push(Object.freeze({ kind, id }));
    });
    return found;
  }

  /**
   * Removes entries whose tokens have all expired, some at a time: between two yields a caller can let other
   * work run. What is not reached yet is still found.
   *
   * @param now - Seconds since 1970.
   */
  *pruning(now: number): Generator<void, void> {
    let seen = 0;
    for (const records of Object.values(this.#loose)) {
      for (const [id, { until }] of records) {
        if (until <= now) records.delete(id);
        if (++seen % SOME === 0) yield;
      }
    }
    for (const packed of [this.links, this.capabilities]) {
      for (const _ of packed.pruning(now)) yield;
    }
  }

  /** What is not packed. */
  *loose(): Generator<readonly [kind: RevocationKind, id: string, record: LooseRecord], void> {
    for (const kind of ["link", "capability", "key", "principal"] as const) {
      for (const [id, record] of this.#loose[kind]) yield [kind, id, record];
    }
  }

  #packedOf(kind: RevocationKind): PackedIds | undefined {
    return kind === "link" ? this.links : kind === "capability" ? this.capabilities : undefined;
  }
}
