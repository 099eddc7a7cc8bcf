import type { RevocationEntry } from "./entry.js";

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
