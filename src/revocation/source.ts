import type { RevocationEntry } from "./entry.js";

/** The question of a checker about one token. */
export interface RevocationQuery {
  /** The ids of every link, those of discharges included. */
  readonly links: readonly string[];
  readonly capability: string;
  /** The id of the key that made the token; for the key of a service, also the id of its root key. */
  readonly keys: readonly string[];
  readonly principal?: string;
  /** The time when the capability was issued, in milliseconds since 1970. */
  readonly issued: number;
}

/** Looks up revocations; every issuer must have a source. */
export interface RevocationSource {
  /** Returns every entry that concerns the token, with at least kind and id; a list may keep the rest on disk. */
  find(query: RevocationQuery): RevocationEntry[];
  /**
   * Returns whether answers may be relied on now; every check is refused while they may not.
   *
   * @param now - The checker's clock, in milliseconds since 1970.
   */
  isCurrent(now: number): boolean;
  /**
   * Looks for new revocations, unless it has just looked. Code that can wait calls this right before it checks;
   * calls at the same time share one look. Never rejects: after a failed look the known entries stay in force,
   * for as long as {@link RevocationSource.isCurrent} allows. Absent if the source is never behind.
   */
  catchUp?(): Promise<void>;
}

/** Reads whole entries. */
export interface RevocationRecords {
  /**
   * Returns every entry that concerns the token, with its time and reason.
   *
   * @throws StorageError if the entries are on a disk and cannot be read.
   */
  entriesOf(query: RevocationQuery): Promise<readonly RevocationEntry[]>;
}

/** The party whose quota an entry counts against, and the quota. */
export interface RevocationQuota {
  /** Names the party; any string. */
  readonly party: string;
  /** The number of its live entries that the list may hold at once. */
  readonly most: number;
}

/**
 * The outcome of adding an entry. `known`: the list revokes all of it already. `over_quota`: the party has as
 * many entries as it may have, and nothing was added.
 */
export type RevocationAddition = "added" | "known" | "over_quota";

/** Stores revocations for an agent: a `RevocationList`, which counts no quotas, or a store. */
export interface RevocationSink {
  /**
   * Adds an entry, counted against a quota if one is given.
   *
   * @returns The outcome once the entry is stored, or nothing if the sink adds every entry at once.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: what a synchronous list gives back does not count.
  add(entry: RevocationEntry, quota?: RevocationQuota): Promise<RevocationAddition> | void;
}
