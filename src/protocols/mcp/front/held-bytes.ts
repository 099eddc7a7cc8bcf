/** An item that takes memory, such as a body, and the name of its caller. */
interface Held {
  readonly caller: string;
  readonly bytes: number;
}

/**
 * Returns items to remove, so that the remaining items have at most `limit` bytes together: each time, the largest item
 * of the caller who has the most bytes. A caller with many small items thus loses these items, not another caller.
 */
export function overLimit<Item extends Held>(
  items: Iterable<Item>,
  limit: number,
): readonly Item[] {
  const left = new Set(items);
  let total = [...left].reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= limit) return [];
  const removed: Item[] = [];
  const bytesOf = new Map<string, number>();
  for (const { caller, bytes } of left) bytesOf.set(caller, (bytesOf.get(caller) ?? 0) + bytes);
  while (total > limit) {
    const [most] = [...bytesOf].sort(([, a], [, b]) => b - a);
    const own = [...left].filter(({ caller }) => caller === most?.[0]);
    const [largest] = own.sort((a, b) => b.bytes - a.bytes);
    if (largest === undefined) break;
    left.delete(largest);
    removed.push(largest);
    bytesOf.set(largest.caller, (bytesOf.get(largest.caller) ?? 0) - largest.bytes);
    total -= largest.bytes;
  }
  return removed;
}
