/**
 * Bounds an `LRUCache` by number of entries, each of size 1: with `max` the library allocates its
 * tables at once, which adds milliseconds to every start.
 */
export function atMost(entries: number): {
  readonly maxSize: number;
  readonly sizeCalculation: () => number;
} {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
