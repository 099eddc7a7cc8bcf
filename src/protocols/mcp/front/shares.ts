/**
 * The caller's name for every request whose headers have no token, or a token that is not in force. Such requests count
 * as one caller's.
 */
export const STRANGERS = "";

/** Counts open items, such as requests, by caller. One caller may have at most a quarter of the maximum. */
export class Shares {
  readonly #most: number;
  readonly #open = new Set<{ readonly caller: string }>();

  /** @param most - Maximum number of open items of all callers together. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Counts one more item of a caller.
   *
   * @returns A function to call when the item is closed; `undefined` if there are too many items.
   */
  take(caller: string): (() => void) | undefined {
    const own = [...this.#open].filter((one) => one.caller === caller);
    const isFull = this.#open.size >= this.#most || own.length >= Math.ceil(this.#most / 4);
    if (isFull) return undefined;
    const item = { caller };
    this.#open.add(item);
    return () => void this.#open.delete(item);
  }
}

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
