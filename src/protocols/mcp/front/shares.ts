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
