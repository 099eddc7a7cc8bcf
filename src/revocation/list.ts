// A revocation list in memory. The files of this folder:
//
// - id.ts derives the id of a link from its tag, and entry.ts defines an entry.
// - table.ts looks entries up in memory, and lookup.ts in any table.
// - pace.ts and oldest-first.ts split work on long lists.
// - source.ts defines the interfaces from which a checker reads and to which an agent writes.
//
// No file of this folder does I/O: stores are in src/stores.

import { formatTime, parseTime } from "../caveats/time.js";
import { assertOptionalString, described } from "../checks/kinds.js";
import { type RevocationEntry, readEntry, refuseUnknown } from "./entry.js";
import type {
  RevocationQuery,
  RevocationRecords,
  RevocationSink,
  RevocationSource,
} from "./source.js";
import { RevocationTable } from "./table.js";

/** A revocation list as plain data, for sending, storing and tests. */
export interface RevocationSnapshot {
  /** Grows with every change and never shrinks. */
  readonly version: number;
  /** The time until which the list may be trusted; absent for the original, which is always current. */
  readonly trustedUntil?: string;
  readonly entries: readonly RevocationEntry[];
}

/**
 * A revocation list in memory, made by {@link createRevocationList}. It is either an original, to which entries are
 * added, or a copy, which takes snapshots of an original and is trusted for a limited time.
 */
export class RevocationList implements RevocationSource, RevocationSink, RevocationRecords {
  #table: RevocationTable = new RevocationTable();
  #version = 0;
  #trustedUntil = Number.POSITIVE_INFINITY;

  /** @internal Use {@link createRevocationList}. */
  constructor(snapshot?: RevocationSnapshot) {
    if (snapshot !== undefined) this.#take(readSnapshot(snapshot));
  }

  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#table.size;
  }

  /** The time until which the list may be trusted, in milliseconds since 1970; `Infinity` for an original. */
  get trustedUntil(): number {
    return this.#trustedUntil;
  }

  isCurrent(now: number): boolean {
    return now < this.#trustedUntil;
  }

  /**
   * Adds an entry. If the list has an entry for the same object, merges the two: the result revokes everything that
   * either entry revokes, until the later end of the two.
   *
   * @throws TypeError if the entry is not well-formed, or if this list is a copy. Add the entry to the original
   *   instead: the next snapshot would remove it from the copy.
   */
  add(entry: RevocationEntry): void {
    if (this.#isCopy) throw new TypeError("this list is a copy: revoke at the original");
    this.#table.add(readEntry(entry));
    this.#version++;
  }

  /**
   * Replaces the entries by those of a newer snapshot of the original. A snapshot that is older than the list is
   * refused, so that a replayed snapshot cannot undo a revocation.
   *
   * @throws TypeError if the snapshot is not well-formed or has no `trustedUntil`, or this list is an original with
   *   its own entries.
   * @returns `true` if the snapshot was accepted, `false` if it was older.
   */
  replace(snapshot: RevocationSnapshot): boolean {
    if (!this.#isCopy && this.#version > 0) {
      throw new TypeError("this list is an original: it follows no other");
    }
    const read = readSnapshot(snapshot);
    if (!Number.isFinite(read.trustedUntil)) {
      throw new TypeError(
        "a snapshot to follow must say trustedUntil, or it would be trusted for ever",
      );
    }
    if (read.version < this.#version) return false;
    this.#take(read);
    return true;
  }

  find(query: RevocationQuery): RevocationEntry[] {
    return this.#table.find(query);
  }

  async entriesOf(query: RevocationQuery): Promise<readonly RevocationEntry[]> {
    return this.#table.find(query);
  }

  /**
   * Removes entries whose tokens have all expired.
   *
   * @param now - Milliseconds since 1970.
   * @returns The number of entries removed.
   */
  prune(now: number): number {
    const removed = this.#table.prune(now / 1000);
    // A copy keeps the version of its original.
    if (removed > 0 && !this.#isCopy) this.#version++;
    return removed;
  }

  /**
   * Returns the list as data, oldest entry first.
   *
   * @param trustedUntil - The time until which a copy may trust the snapshot, such as `2026-01-31T23:59:59Z`; by
   *   default, {@link RevocationList.trustedUntil} of a copy, and none for an original.
   */
  snapshot(trustedUntil?: string): RevocationSnapshot {
    assertOptionalString(trustedUntil, "trustedUntil");
    const until = trustedUntil ?? (this.#isCopy ? formatTime(this.#trustedUntil) : undefined);
    const snapshot = { version: this.#version, entries: this.#table.entries() };
    return until === undefined ? snapshot : { ...snapshot, trustedUntil: until };
  }

  get #isCopy(): boolean {
    return Number.isFinite(this.#trustedUntil);
  }

  #take({ version, trustedUntil, table }: ReturnType<typeof readSnapshot>): void {
    this.#table = table;
    this.#version = version;
    this.#trustedUntil = trustedUntil;
  }
}

function readSnapshot(snapshot: RevocationSnapshot) {
  refuseUnknown(snapshot, ["version", "trustedUntil", "entries"], "snapshot");
  const { version, trustedUntil: trusted } = snapshot;
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new TypeError("snapshot.version must be a whole number of at least 0");
  }
  const trustedUntil = trusted === undefined ? Number.POSITIVE_INFINITY : parseTime(trusted);
  if (trustedUntil === undefined) {
    throw new TypeError(
      `snapshot.trustedUntil must be a time such as 2026-01-31T23:59:59Z, not ${described(trusted)}`,
    );
  }
  const table = new RevocationTable();
  const { entries } = snapshot;
  if (!Array.isArray(entries)) {
    throw new TypeError(`snapshot.entries must be an array, not ${described(entries)}`);
  }
  for (const [at, entry] of entries.entries())
    table.add(readEntry(entry, `snapshot.entries[${at}]`));
  return { version, trustedUntil, table };
}

/**
 * Creates a revocation list in memory.
 *
 * @param snapshot - The initial entries. With `trustedUntil`, the new list is a copy; without `trustedUntil`, it is
 *   the original, restored from storage.
 * @throws TypeError if the snapshot is not well-formed.
 *
 * @example
 * ```ts
 * import { createRevocationList } from "proviso/issuer";
 *
 * const original = createRevocationList();
 * original.add({ kind: "key", id: "key_1", at: "2026-01-01T00:00:00Z" });
 *
 * const copy = createRevocationList(original.snapshot("2026-01-01T00:05:00Z"));
 * copy.version; // => 1
 * copy.isCurrent(Date.parse("2026-01-01T00:04:00Z")); // => true
 * copy.isCurrent(Date.parse("2026-01-01T00:05:00Z")); // => false
 *
 * original.add({ kind: "key", id: "key_2", at: "2026-01-01T00:03:00Z" });
 * copy.replace(original.snapshot("2026-01-01T00:10:00Z")); // => true
 * copy.size; // => 2
 * ```
 */
export function createRevocationList(snapshot?: RevocationSnapshot): RevocationList {
  return new RevocationList(snapshot);
}
