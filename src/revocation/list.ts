// src/revocation: what is revoked. id.ts derives a link's id from its tag, entry.ts has one revocation,
// source.ts where a checker looks, and this file the list in memory. No I/O: stores are in src/stores.

import { formatTime, parseTime } from "../caveats/time.js";
import {
  checkedEntry,
  mergeEntries,
  type RevocationEntry,
  type RevocationKind,
  refuseUnknown,
} from "./entry.js";
import type { RevocationQuery, RevocationSource } from "./source.js";

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
 * which only follows it and is trusted for a limited time.
 *
 * @example
 * ```ts
 * import { RevocationList } from "proviso/issuer";
 *
 * const original = new RevocationList();
 * original.add({ kind: "key", id: "key_1", at: "2026-01-01T00:00:00Z" });
 *
 * const copy = new RevocationList(original.snapshot("2026-01-01T00:05:00Z"));
 * copy.version; // => 1
 * copy.isCurrent(Date.parse("2026-01-01T00:04:00Z")); // => true
 * copy.isCurrent(Date.parse("2026-01-01T00:05:00Z")); // => false
 *
 * original.add({ kind: "key", id: "key_2", at: "2026-01-01T00:03:00Z" });
 * copy.replace(original.snapshot("2026-01-01T00:10:00Z")); // => true
 * copy.size; // => 2
 * ```
 */
export class RevocationList implements RevocationSource {
  #entries = new Map<string, RevocationEntry>();
  #version = 0;
  #trustedUntil = Number.POSITIVE_INFINITY;

  /**
   * @param snapshot - What to start from: with `trustedUntil` this list is a copy, without it the
   *   original, read back from where it was kept.
   * @throws TypeError if the snapshot is not well formed.
   */
  constructor(snapshot?: RevocationSnapshot) {
    if (snapshot !== undefined) this.#take(readSnapshot(snapshot));
  }

  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#entries.size;
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
    put(this.#entries, checkedEntry(entry));
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
    if (this.#entries.size === 0) return [];
    const found: RevocationEntry[] = [];
    const look = (kind: RevocationKind, id: string | undefined): void => {
      const entry = id === undefined ? undefined : this.#entries.get(keyOf(kind, id));
      if (entry !== undefined && concerns(entry, query.issued)) found.push(entry);
    };
    for (const link of query.links) look("link", link);
    look("capability", query.capability);
    look("key", query.key);
    look("principal", query.principal);
    return found;
  }

  /**
   * Removes entries whose tokens have all expired.
   *
   * @param now - Milliseconds since 1970.
   * @returns How many were removed.
   */
  prune(now: number): number {
    let removed = 0;
    for (const [key, entry] of this.#entries) {
      if (!isOver(entry, now)) continue;
      this.#entries.delete(key);
      removed++;
    }
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
    const own = this.#isCopy ? formatTime(this.#trustedUntil) : undefined;
    const until = trustedUntil ?? own;
    const entries = [...this.#entries.values()];
    const snapshot = { version: this.#version, entries };
    return until === undefined ? snapshot : { ...snapshot, trustedUntil: until };
  }

  get #isCopy(): boolean {
    return Number.isFinite(this.#trustedUntil);
  }

  #take({ version, trustedUntil, entries }: ReadSnapshot): void {
    this.#entries = entries;
    this.#version = version;
    this.#trustedUntil = trustedUntil;
  }
}

interface ReadSnapshot {
  readonly version: number;
  readonly trustedUntil: number;
  readonly entries: Map<string, RevocationEntry>;
}

function readSnapshot(snapshot: RevocationSnapshot): ReadSnapshot {
  refuseUnknown(snapshot, ["version", "trustedUntil", "entries"], "a revocation list");
  const { version, trustedUntil: trusted } = snapshot;
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new TypeError("a revocation list's version must be a whole number of at least 0");
  }
  const trustedUntil = trusted === undefined ? Number.POSITIVE_INFINITY : parseTime(trusted);
  if (trustedUntil === undefined) throw new TypeError("trustedUntil must be a time");
  const entries = new Map<string, RevocationEntry>();
  for (const entry of snapshot.entries) put(entries, checkedEntry(entry));
  return { version, trustedUntil, entries };
}

function keyOf(kind: RevocationKind, id: string): string {
  return `${kind}:${id}`;
}

function concerns(entry: RevocationEntry, issued: number): boolean {
  if (entry.kind !== "principal") return true;
  return issued < (parseTime(entry.before ?? "") ?? Number.POSITIVE_INFINITY);
}

/** Whether every token that the entry concerns has expired at `now`, in milliseconds since 1970. */
function isOver(entry: RevocationEntry, now: number): boolean {
  const until = entry.until === undefined ? undefined : parseTime(entry.until);
  return until !== undefined && until <= now;
}

function put(entries: Map<string, RevocationEntry>, entry: RevocationEntry): void {
  const key = keyOf(entry.kind, entry.id);
  const known = entries.get(key);
  entries.set(key, known === undefined ? entry : mergeEntries(known, entry));
}
