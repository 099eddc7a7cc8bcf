import type { RevocationEntry, RevocationKind } from "./entry.js";
import type { RevocationQuery } from "./source.js";

/** Looks up entries of one kind. */
export interface RevocationLookup {
  /**
   * Appends to `found` the entry of each id that is revoked.
   *
   * @param issued - When the capability was issued, in milliseconds since 1970.
   */
  collect(
    kind: RevocationKind,
    ids: readonly string[],
    issued: number,
    found: RevocationEntry[],
  ): void;
}

/** Returns every entry that concerns the token. */
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

/** Returns whether an entry covers a token issued at `issued`, in milliseconds since 1970. */
export function concerns(before: number | undefined, issued: number): boolean {
  return before === undefined || !(issued >= before * 1000);
}
