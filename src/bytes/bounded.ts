/**
 * The bound of an `LRUCache` by its number of entries, as a size, each entry being one: for a number (`max`) the
 * library fills its tables at once, which takes milliseconds of each start.
 */
export function atMost(entries: number): {
  readonly maxSize: number;
  readonly sizeCalculation: () => number;
} {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
