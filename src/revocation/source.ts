import type { RevocationEntry } from "./entry.js";

/** What a checker asks a revocation list about one token. */
export interface RevocationQuery {
  /** Ids of every link, discharges' links included. */
  readonly links: readonly string[];
  readonly capability: string;
  /** The id of the key it was made under and, of a service's key, of the root key that it comes from. */
  readonly keys: readonly string[];
  readonly principal?: string;
  /** When the capability was issued, in milliseconds since 1970. */
  readonly issued: number;
}

/** Where revocations are looked up; every issuer must name one. */
export interface RevocationSource {
  /** Every entry that concerns the token, by kind and id at least: a list may keep the rest on disk. */
  find(query: RevocationQuery): RevocationEntry[];
  /**
   * Whether answers may be relied on now; every check is refused while they may not.
   *
   * @param now - The checker's clock, in milliseconds since 1970.
   */
  isCurrent(now: number): boolean;
  /**
   * Looks whether there is something new, unless it has just looked: for code that can wait, right before it asks.
   * Those that wait at the same time share one look. It never rejects: after a look that fails, what is known goes on
   * being the answer, for as long as {@link RevocationSource.isCurrent} says. Absent where nothing is ever behind.
   */
  catchUp?(): Promise<void>;
}

/** Where entries are read whole. */
export interface RevocationRecords {
  /**
   * Every entry that concerns the token, with the time and the reason of each.
   *
   * @throws StorageError if they are on a disk and cannot be read.
   */
  entriesOf(query: RevocationQuery): Promise<readonly RevocationEntry[]>;
}
