import {
  entryOf,
  type KeptRevocation,
  KINDS,
  mergeRecords,
  type RevocationEntry,
  type RevocationKind,
  type RevocationRecord,
} from "./entry.js";
import { concerns, findIn, type RevocationLookup } from "./lookup.js";
import type { RevocationQuery } from "./source.js";

type Records = Map<string, RevocationRecord>;

/** Keeps complete entries in memory, in one map for each kind. A million entries take some 150 MB. */
export class RevocationTable implements RevocationLookup {
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
    return findIn(this, query);
  }

  /** @internal */
  collect(
    kind: RevocationKind,
    ids: readonly string[],
    issued: number,
    found: RevocationEntry[],
  ): void {
    const records = this.#kinds[kind];
    if (records.size === 0) return;
    // A `for of` loop would allocate an iterator, and a result object for each id.
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] ?? "";
      const record = records.get(id);
      if (record === undefined || !concerns(record.before, issued)) continue;
      found.push(entryOf({ kind, id, record }));
    }
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
        const over = until !== undefined && until <= now;
        if (!over) continue;
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
