import type { BigIntStats } from "node:fs";

/** What changes whenever a file is replaced or written to: the same stamp is the same content. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}
