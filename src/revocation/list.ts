// src/revocation: what is revoked. id.ts derives a link's id from its tag, entry.ts has one revocation,
// table.ts looks revocations up in memory, as lookup.ts asks any table, pace.ts and oldest-first.ts split work on long
// lists, source.ts and sink.ts have the interfaces of where a checker looks and an agent adds, and this file the list
// in memory. No I/O: stores are in src/stores.

import { formatTime, parseTime } from "../caveats/time.js";
import { described } from "../checks/described.js";
import { assertOptionalString } from "../checks/kinds.js";
import { type RevocationEntry, readEntry, refuseUnknown } from "./entry.js";
import type { RevocationSink } from "./sink.js";
import type { RevocationQuery, RevocationRecords, RevocationSource } from "./source.js";
import { RevocationTable } from "./table.js";

/** A revocation list as data: to send, to store, to test with. */
export interface RevocationSnapshot {
  /** Grows with every change and never shrinks. */
  readonly version: number;
  /** Until when the list may be relied on; absent means that it is the original, always current. */
  readonly trustedUntil?: string;
  readonly entries: readonly RevocationEntry[];
}

/**
 * A revocation list in memory: the original, to which entries are added, or a copy of one elsewhere,
 * which only follows it and is trusted for a limited time. Made by {@link createRevocationList}.
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

  /** Until when it may be relied on, in milliseconds since 1970; `Infinity` for an original. */
  get trustedUntil(): number {
    return this.#trustedUntil;
  }

  isCurrent(now: number): boolean {
    return now < this.#trustedUntil;
  }

  /**
   * Adds an entry. Of two for the same thing, the one that revokes more and stays longer is kept.
   *
   * @throws TypeError if the entry is not well formed, or this is a copy: the next snapshot would
   *   undo it, so revoke at the original.
   */
  add(entry: RevocationEntry): void {
    if (this.#isCopy) throw new TypeError("this list is a copy: revoke at the original");
    this.#table.add(readEntry(entry));
    this.#version++;
  }

  /**
   * Takes over a newer snapshot of the original. An older version than the present one is refused,
   * so that a replayed snapshot cannot undo a revocation.
   *
   * @throws TypeError if the snapshot is not well formed or has no `trustedUntil`, or this list is
   *   an original with entries of its own.
   * @returns Whether it was taken over.
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
   * @returns How many were removed.
   */
  prune(now: number): number {
    const removed = this.#table.prune(now / 1000);
    // A copy keeps the version of what it copies.
    if (removed > 0 && !this.#isCopy) this.#version++;
    return removed;
  }

  /**
   * The list as data, oldest entry first.
   *
   * @param trustedUntil - For a copy elsewhere: until when it may rely on this; a time such as
   *   `2026-01-31T23:59:59Z`. Absent, it is what {@link RevocationList.trustedUntil} says.
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
 * A revocation list in memory.
 *
 * @param snapshot - What to start from: with `trustedUntil` this list is a copy, without it the
 *   original, read back from where it was kept.
 * @throws TypeError if the snapshot is not well formed.
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
