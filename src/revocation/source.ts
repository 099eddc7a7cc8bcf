import type { RevocationEntry } from "./entry.js";

/** A checker's query about one token. */
export interface RevocationQuery {
  /** The revocation ids of all links, including links of discharges. */
  readonly links: readonly string[];
  readonly capability: string;
  /** The id of the key that made the token; for a service's key, also the id of its root key. */
  readonly keys: readonly string[];
  readonly principal?: string;
  /** The time at which the capability was issued, in milliseconds since 1970. */
  readonly issued: number;
}

/** Looks up revocations; every issuer must have a source. */
export interface RevocationSource {
  /**
   * Returns every entry that revokes the token, with at least `kind` and `id`. Other properties of an entry may be
   * left in storage.
   */
  find(query: RevocationQuery): RevocationEntry[];
  /**
   * Returns whether the entries may be trusted now. While the entries may not be trusted, every check is refused.
   *
   * @param now - The checker's clock, in milliseconds since 1970.
   */
  isCurrent(now: number): boolean;
  /**
   * Reads new revocations, unless the source has just done so. Code that can wait should call `catchUp` right before
   * a check; concurrent calls share one read. Never rejects: after a failed read, the known entries stay in force as
   * long as {@link RevocationSource.isCurrent} allows. Absent if the source is never behind.
   */
  catchUp?(): Promise<void>;
}

/** Reads complete entries. */
export interface RevocationRecords {
  /**
   * Returns every entry that revokes the token, with time and reason.
   *
   * @throws StorageError if stored entries cannot be read.
   */
  entriesOf(query: RevocationQuery): Promise<readonly RevocationEntry[]>;
}

/** A quota of entries, and the party that it applies to. */
export interface RevocationQuota {
  /** Identifies the party; any string. */
  readonly party: string;
  /** Maximum number of live entries of the party in the list. */
  readonly most: number;
}

/**
 * The result of adding an entry. `known`: the list already revokes everything that the entry revokes. `over_quota`:
 * the party has reached its quota, and nothing was added.
 */
export type RevocationAddition = "added" | "known" | "over_quota";

/** Stores revocations for an agent: a `RevocationList`, which ignores quotas, or a store. */
export interface RevocationSink {
  /**
   * Adds an entry, counted against a quota if one is given.
   *
   * @returns The result once the entry is stored; `undefined` if the sink adds entries synchronously.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: the return value of a synchronous list is ignored.
  add(entry: RevocationEntry, quota?: RevocationQuota): Promise<RevocationAddition> | void;
}
