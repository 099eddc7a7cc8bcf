import { type Hop, ownMember } from "./hop.js";
import { EVERY_OPERATION } from "./operation-authority.js";

/** The keys of a hop whose values have an entry for each operation. */
export const ENTRY_KEYS = ["operationConstraints", "arguments"] as const;

type Entries = Pick<Hop, (typeof ENTRY_KEYS)[number]>;

/**
 * Removes the entries of a hop for operations that are not in `operations`: the token does not have these operations.
 * The entries `*` stay.
 */
export function forOperations<Init extends Entries>(
  hop: Init,
  operations: readonly string[],
): Init {
  const kept = new Map<string, unknown>(Object.entries(hop));
  for (const key of ENTRY_KEYS) {
    const entries = ownMember<Entries, (typeof ENTRY_KEYS)[number]>(hop, key);
    if (entries === undefined) continue;
    const own = Object.entries(entries).filter(
      ([operation]) => operation === EVERY_OPERATION || operations.includes(operation),
    );
    if (own.length === 0) kept.delete(key);
    else kept.set(key, Object.fromEntries(own));
  }
  return Object.fromEntries(kept) as Init;
}

/** Returns the operations for which a hop has entries, except `*`. */
export function operationsIn(hop: Entries): readonly string[] {
  const named = ENTRY_KEYS.flatMap((key) =>
    Object.keys(ownMember<Entries, typeof key>(hop, key) ?? {}),
  );
  return [...new Set(named)].filter((operation) => operation !== EVERY_OPERATION);
}
