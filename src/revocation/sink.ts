import type { RevocationEntry } from "./entry.js";

/** How many entries one party may have, and which. */
export interface RevocationQuota {
  /** Names the party that the entry counts against; any text. */
  readonly party: string;
  /** How many of its entries may stand in the list at once, but for those that are over. */
  readonly most: number;
}

/**
 * The outcome of adding an entry. `known`: the list revokes all that it does already. `over_quota`: the
 * party has as many entries as it may have, and nothing was added.
 */
export type RevocationAddition = "added" | "known" | "over_quota";

/** Where an agent adds revocations: a `RevocationList`, which counts no quotas, or a store. */
export interface RevocationSink {
  /**
   * Adds an entry, which counts against a quota where there is one.
   *
   * @returns When it is kept; nothing where it was always added.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: what a synchronous list gives back does not count.
  add(entry: RevocationEntry, quota?: RevocationQuota): Promise<RevocationAddition> | void;
}
