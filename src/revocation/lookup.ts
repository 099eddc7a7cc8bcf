import type { RevocationEntry, RevocationKind } from "./entry.js";
import type { RevocationQuery } from "./source.js";

/** Looks up entries of one kind. */
export interface RevocationLookup {
  /**
   * Appends to `found` the entry of each id that is revoked.
   *
   * @param issued - The time at which the capability was issued, in milliseconds since 1970.
   */
  collect(
    kind: RevocationKind,
    ids: readonly string[],
    issued: number,
    found: RevocationEntry[],
  ): void;
}

/** Returns every entry that revokes the token of the query. */
export function findIn(
  lookup: RevocationLookup,
  { links, capability, keys, principal, issued }: RevocationQuery,
): RevocationEntry[] {
  const found: RevocationEntry[] = [];
  lookup.collect("link", links, issued, found);
  lookup.collect("capability", [capability], issued, found);
  lookup.collect("key", keys, issued, found);
  if (principal !== undefined) lookup.collect("principal", [principal], issued, found);
  return found;
}

/**
 * Returns whether an entry revokes a token that was issued at `issued`.
 *
 * @param before - Seconds since 1970; `undefined` if the entry does not depend on the time of issue.
 * @param issued - Milliseconds since 1970.
 */
export function concerns(before: number | undefined, issued: number): boolean {
  return before === undefined || !(issued >= before * 1000);
}
