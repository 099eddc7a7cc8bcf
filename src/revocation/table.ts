import {
  entryOf,
  type KeptRevocation,
  KINDS,
  mergeRecords,
  type RevocationEntry,
  type RevocationKind,
  type RevocationRecord,
} from "./entry.js";
import { concerns, findIn } from "./lookup.js";
import type { RevocationQuery } from "./source.js";

type Records = Map<string, RevocationRecord>;

/**
 * Complete entries in memory, in one map for each kind. An entry takes 160 bytes in a list of 1 million. The stores
 * have a smaller table for look-ups: docs/revocation-list.md has the reasons for both.
 */
export class RevocationTable {
  readonly #kinds: Readonly<Record<RevocationKind, Records>> = {
    link: new Map(),
    capability: new Map(),
    key: new Map(),
    principal: new Map(),
  };

  get size(): number {
    return Object.values(this.#kinds).reduce((sum, records) => sum + records.size, 0);
  }

  /** Adds a record. If there is a record of the same object, merges the two as {@link mergeRecords} does. */
  add({ kind, id, record }: KeptRevocation): void {
    const records = this.#kinds[kind];
    const known = records.get(id);
    records.set(id, known === undefined ? record : mergeRecords(known, record));
  }

  /** Returns every entry that revokes the token of the query. */
  find(query: RevocationQuery): RevocationEntry[] {
    return findIn(query, (kind, id) => {
      const record = this.#kinds[kind].get(id);
      const revokes = record !== undefined && concerns(record.before, query.issued);
      return revokes ? entryOf({ kind, id, record }) : undefined;
    });
  }

  /**
   * Removes entries whose tokens have all expired.
   *
   * @param now - Seconds since 1970.
   * @returns The number of records removed.
   */
  prune(now: number): number {
    let removed = 0;
    for (const records of Object.values(this.#kinds)) {
      for (const [id, { until }] of records) {
        if (until === undefined || until > now) continue;
        records.delete(id);
        removed++;
      }
    }
    return removed;
  }

  /** Returns every entry, oldest first. */
  entries(): RevocationEntry[] {
    return [...this.kept()].sort((a, b) => a.record.at - b.record.at).map(entryOf);
  }

  /** Yields every entry as it is stored. */
  *kept(): Generator<KeptRevocation, void> {
    for (const kind of KINDS) {
      for (const [id, record] of this.#kinds[kind]) yield { kind, id, record };
    }
  }
}
