import { formatTime, parseTime } from "../caveats/time.js";
import { isRevocationId } from "./id.js";

/** What is revoked: one link and all that descends from it, a capability, a key, or a principal's. */
export type RevocationKind = "link" | "capability" | "key" | "principal";

/** One entry of a revocation list. */
export interface RevocationEntry {
  readonly kind: RevocationKind;
  /** `rv_…` for a link, `cap_…` for a capability, a key id, or a principal. */
  readonly id: string;
  /** For a principal: what was issued strictly before this moment is revoked. */
  readonly before?: string;
  /** When the last token concerned has expired and the entry can go; absent means never. */
  readonly until?: string;
  /** When it was revoked. */
  readonly at: string;
  /** Why, in the operator's words; never shown to whoever presents a token. */
  readonly reason?: string;
}

/** A revocation list as data: to send, to store, to test with. */
export interface RevocationSnapshot {
  /** Grows with every change and never shrinks. */
  readonly version: number;
  /** Until when the list may be relied on; absent means that it is the original, always current. */
  readonly trustedUntil?: string;
  readonly entries: readonly RevocationEntry[];
}

/** What a checker asks a revocation list about one token. */
export interface RevocationQuery {
  /** Ids of every link, discharges' links included. */
  readonly links: readonly string[];
  readonly capability: string;
  readonly key: string;
  readonly principal?: string;
  /** When the capability was issued, in milliseconds since 1970. */
  readonly issued: number;
}

/** Where revocations are looked up; every issuer must name one. */
export interface RevocationSource {
  /** Every entry that concerns the token. */
  find(query: RevocationQuery): RevocationEntry[];
  /** Until when answers may be relied on, in milliseconds since 1970; `Infinity` for an original. */
  trustedUntil(): number;
}

/**
 * A revocation list in memory. On its own it is the original list of one process; filled from a
 * snapshot it is a copy, to be trusted for a limited time.
 *
 * @example
 * ```ts
 * import { RevocationList } from "proviso/issuer";
 *
 * const list = new RevocationList();
 * list.add({ kind: "key", id: "key_1", at: "2026-01-01T00:00:00Z" });
 * list.version; // => 1
 * ```
 */
export class RevocationList implements RevocationSource {
  #entries = new Map<string, RevocationEntry>();
  #version = 0;
  #trustedUntil = Number.POSITIVE_INFINITY;

  /**
   * @param snapshot - The entries to start from; none if absent.
   * @throws TypeError if the snapshot is not well formed.
   */
  constructor(snapshot?: RevocationSnapshot) {
    if (snapshot !== undefined) this.replace(snapshot);
  }

  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#entries.size;
  }

  trustedUntil(): number {
    return this.#trustedUntil;
  }

  /**
   * Adds an entry. Of two for the same thing, the one that revokes more and stays longer is kept.
   *
   * @throws TypeError if the entry is not well formed.
   */
  add(entry: RevocationEntry): void {
    put(this.#entries, checkedEntry(entry));
    this.#version++;
  }

  /**
   * Takes over a snapshot of the original list. An older version than the present one is refused,
   * so that a replayed snapshot can not undo a revocation.
   *
   * @throws TypeError if the snapshot is not well formed.
   * @returns Whether it was taken over.
   */
  replace(snapshot: RevocationSnapshot): boolean {
    if (!Number.isSafeInteger(snapshot.version) || snapshot.version < 0) {
      throw new TypeError("a revocation list's version must be a whole number of at least 0");
    }
    const trusted = snapshot.trustedUntil;
    const until = trusted === undefined ? Number.POSITIVE_INFINITY : parseTime(trusted);
    if (until === undefined) throw new TypeError("trustedUntil must be a time");
    const entries = new Map<string, RevocationEntry>();
    for (const entry of snapshot.entries) put(entries, checkedEntry(entry));
    if (snapshot.version < this.#version) return false;
    this.#entries = entries;
    this.#version = snapshot.version;
    this.#trustedUntil = until;
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
    if (removed > 0) this.#version++;
    return removed;
  }

  /** The list as data, oldest entry first. */
  snapshot(): RevocationSnapshot {
    const trusted = this.#trustedUntil;
    const entries = [...this.#entries.values()];
    return Number.isFinite(trusted)
      ? { version: this.#version, trustedUntil: formatTime(trusted), entries }
      : { version: this.#version, entries };
  }
}

function keyOf(kind: RevocationKind, id: string): string {
  return `${kind}:${id}`;
}

function concerns(entry: RevocationEntry, issued: number): boolean {
  if (entry.kind !== "principal") return true;
  return issued < (parseTime(entry.before ?? "") ?? Number.POSITIVE_INFINITY);
}

/** Whether every token that the entry concerns has expired at `now`, in milliseconds since 1970. */
export function isOver(entry: RevocationEntry, now: number): boolean {
  const until = entry.until === undefined ? undefined : parseTime(entry.until);
  return until !== undefined && until <= now;
}

function put(entries: Map<string, RevocationEntry>, entry: RevocationEntry): void {
  const key = keyOf(entry.kind, entry.id);
  const known = entries.get(key);
  entries.set(key, known === undefined ? entry : mergeEntries(known, entry));
}

/** Of two entries for the same thing: one that revokes what either does, for as long as either. */
export function mergeEntries(known: RevocationEntry, added: RevocationEntry): RevocationEntry {
  const { until, before, ...rest } = added;
  const longest = latest(known.until, until);
  const widest = latest(known.before, before);
  return {
    ...rest,
    ...(widest === undefined ? {} : { before: widest }),
    // Absent means never, so it stays absent.
    ...(known.until === undefined || until === undefined || longest === undefined
      ? {}
      : { until: longest }),
  };
}

function latest(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined ? b : b === undefined || a > b ? a : b;
}

/**
 * A copy with the known members only, so that whoever made the entry can not change it afterwards.
 *
 * @throws TypeError naming the member that is wrong.
 */
export function checkedEntry(entry: RevocationEntry): RevocationEntry {
  const { kind, id, before, until, at, reason } = entry;
  if (!["link", "capability", "key", "principal"].includes(kind)) {
    throw new TypeError(`unknown kind of revocation ${JSON.stringify(kind)}`);
  }
  if (typeof id !== "string" || id === "")
    throw new TypeError("a revocation's id must be a string");
  if (kind === "link" && !isRevocationId(id)) {
    throw new TypeError(`${JSON.stringify(id)} is not a revocation id: rv_ and 22 characters`);
  }
  if ((kind === "principal") !== (before !== undefined)) {
    throw new TypeError('"before" belongs to a principal\'s revocation, and only there');
  }
  for (const time of [before, until, at]) {
    if (time !== undefined && parseTime(time) === undefined) {
      throw new TypeError(`${JSON.stringify(time)} is not a time such as 2026-01-31T23:59:59Z`);
    }
  }
  if (at === undefined) throw new TypeError('a revocation must say "at" when it was made');
  if (reason !== undefined && typeof reason !== "string") {
    throw new TypeError("a revocation's reason must be a string");
  }
  return {
    kind,
    id,
    ...(before === undefined ? {} : { before }),
    ...(until === undefined ? {} : { until }),
    at,
    ...(reason === undefined ? {} : { reason }),
  };
}
