import type { BigIntStats } from "node:fs";

/** What changes whenever a file is replaced or written to: the same stamp is the same content. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/**
 * A function that gives what `read` gives, and reads again when the stamp has changed. What either of
 * them throws is thrown on, until both succeed again.
 *
 * @param refreshEvery - Milliseconds for which nothing is looked at after a look that succeeded.
 */
export function following<T>(refreshEvery: number, stamp: () => string, read: () => T): () => T {
  let known: { readonly stamp: string; readonly value: T } | undefined;
  let lookedAt = 0;
  return () => {
    const now = performance.now();
    if (known !== undefined && now - lookedAt < refreshEvery) return known.value;
    const present = stamp();
    if (known?.stamp !== present) known = { stamp: present, value: read() };
    lookedAt = now;
    return known.value;
  };
}
