import type { RevocationEntry, RevocationKind } from "./entry.js";
import type { RevocationQuery } from "./source.js";

/**
 * Returns every entry that revokes the token of the query.
 *
 * @param entryOn - Returns the entry with this kind and id, if that entry revokes the token.
 */
export function findIn(
  { links, capability, keys, principal }: RevocationQuery,
  entryOn: (kind: RevocationKind, id: string) => RevocationEntry | undefined,
): RevocationEntry[] {
  const found: RevocationEntry[] = [];
  const look = (kind: RevocationKind, id: string): void => {
    const entry = entryOn(kind, id);
    if (entry !== undefined) found.push(entry);
  };
  for (const id of links) look("link", id);
  look("capability", capability);
  for (const id of keys) look("key", id);
  if (principal !== undefined) look("principal", principal);
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
