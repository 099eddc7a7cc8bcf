import type { BigIntStats } from "node:fs";

/** Returns a stamp that changes whenever a file is replaced or written: equal stamps mean equal content. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/**
 * Returns a function that returns the result of `read`, and calls `read` again when the stamp has
 * changed. Rethrows an error of `stamp` or `read` at every call until both succeed again.
 *
 * @param refreshEvery - Milliseconds after a successful check for which the stamp is not checked
 *   again.
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
