import { assertMembers } from "../caveats/known-members.js";
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
  /**
   * Whether answers may be relied on now; every check is refused while they may not.
   *
   * @param now - The checker's clock, in milliseconds since 1970.
   */
  isCurrent(now: number): boolean;
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
   * so that a replayed snapshot can not undo a revocation.
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

/** Of two entries for the same thing: one that revokes what either does, for as long as either. */
export function mergeEntries(known: RevocationEntry, added: RevocationEntry): RevocationEntry {
  const longest = latest(known.until, added.until);
  const widest = latest(known.before, added.before);
  // The first to revoke it is who made the record: a later one can not rewrite when and why.
  const reason = known.reason ?? added.reason;
  return Object.freeze({
    kind: known.kind,
    id: known.id,
    ...(widest === undefined ? {} : { before: widest }),
    // Absent means never, so it stays absent.
    ...(known.until === undefined || added.until === undefined || longest === undefined
      ? {}
      : { until: longest }),
    at: earliest(known.at, added.at),
    ...(reason === undefined ? {} : { reason }),
  });
}

function earliest(a: string, b: string): string {
  return a > b ? b : a;
}

function latest(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined ? b : b === undefined || a > b ? a : b;
}

/**
 * A frozen copy, so that nobody who made or was shown the entry can change it afterwards.
 *
 * @throws TypeError naming the member that is wrong.
 */
export function checkedEntry(entry: RevocationEntry): RevocationEntry {
  refuseUnknown(entry, ["kind", "id", "before", "until", "at", "reason"], "a revocation");
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
  return Object.freeze({
    kind,
    id,
    ...(before === undefined ? {} : { before }),
    ...(until === undefined ? {} : { until }),
    at,
    ...(reason === undefined ? {} : { reason }),
  });
}

// A misspelt member must not pass for an absent one: most absent members mean "for ever".
function refuseUnknown(value: object, known: readonly string[], what: string): void {
  if (typeof value !== "object" || value === null) throw new TypeError(`${what} must be an object`);
  assertMembers(value, known, what);
}
