import {
  type Bounds,
  mergeBounds,
  type RevocationEntry,
  type RevocationKind,
} from "../../revocation/entry.js";
import { concerns, findIn } from "../../revocation/lookup.js";
import type { RevocationQuery } from "../../revocation/source.js";
import { PackedIds } from "./packed-ids.js";

/** A revoked object, with the time until which it stays revoked. */
interface PackedEntry {
  readonly kind: RevocationKind;
  readonly id: string;
  readonly record: Bounds;
}

/** Number of unpacked entries that are processed in one step. */
const SOME = 1000;

/**
 * The entries of a revocation list, reduced to what a check needs. Ids of links and capabilities are packed.
 * Keys, principals and ids of other forms are few, so they are in maps.
 */
export class PackedTable {
  readonly #links = new PackedIds("rv_");
  readonly #capabilities = new PackedIds("cap_");
  readonly #loose: Readonly<Record<RevocationKind, Map<string, Bounds>>> = {
    link: new Map(),
    capability: new Map(),
    key: new Map(),
    principal: new Map(),
  };

  get size(): number {
    const packed = this.#links.size + this.#capabilities.size;
    return Object.values(this.#loose).reduce((sum, { size }) => sum + size, packed);
  }

  /**
   * Adds an entry. If the same object has an entry, both are merged: the result revokes everything that either
   * entry revokes, until the later time.
   */
  add({ kind, id, record: { before, until } }: PackedEntry): void {
    if (this.#packedOf(kind)?.add(id, until ?? Number.POSITIVE_INFINITY) === true) return;
    const known = this.#loose[kind].get(id);
    const record = { before, until };
    this.#loose[kind].set(id, known === undefined ? record : mergeBounds(known, record));
  }

  /** Returns the kind and id of every entry that revokes the token of the query. */
  find(query: RevocationQuery): RevocationEntry[] {
    return findIn(query, (kind, id) => {
      const record = this.#loose[kind].get(id);
      const revokes =
        record === undefined
          ? this.#packedOf(kind)?.get(id) !== undefined
          : concerns(record.before, query.issued);
      return revokes ? Object.freeze({ kind, id }) : undefined;
    });
  }

  /**
   * Removes entries whose tokens have all expired, some at a time, so that the caller can let other work run
   * between two steps. Look-ups find each entry until it is removed.
   *
   * @param now - Seconds since 1970.
   */
  *pruning(now: number): Generator<void, void> {
    let seen = 0;
    for (const records of Object.values(this.#loose)) {
      for (const [id, { until }] of records) {
        if (until !== undefined && until <= now) records.delete(id);
        if (++seen % SOME === 0) yield;
      }
    }
    for (const packed of [this.#links, this.#capabilities]) {
      for (const _ of packed.pruning(now)) yield;
    }
  }

  #packedOf(kind: RevocationKind): PackedIds | undefined {
    return kind === "link" ? this.#links : kind === "capability" ? this.#capabilities : undefined;
  }
}
