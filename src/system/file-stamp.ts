import type { BigIntStats } from "node:fs";

/**
 * Returns a stamp of a file. Replacing or writing the file changes the stamp, except perhaps soon after another
 * change.
 */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/**
 * Returns a function that returns the latest result of `read`. It calls `read` again if the stamp has changed.
 * If `stamp` or `read` throws, the function throws the same error, and tries again at the next call.
 *
 * @param refreshEvery - After a successful check, the stamp is not checked again for this many milliseconds.
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
