import type { BigIntStats } from "node:fs";

/** Returns a stamp of a file, which differs whenever the file is replaced or written. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/**
 * Returns a function that returns the result of `read`, and calls `read` again when the stamp has changed. If
 * `stamp` or `read` throws, every call rethrows its error until both succeed again.
 *
 * @param refreshEvery - Milliseconds after a successful check until the stamp is checked again.
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
