import type { Caller } from "../agent/caller.js";

/** Limits the pending work of each caller over all protocols: its calls and tasks, or its open streams. */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #underWay = new Map<string, number>();

  /**
   * @param most - Maximum number of pending items of one caller (a pair of principal and agent).
   * @param option - The name of the limit in error messages.
   * @throws TypeError if the limit is not an integer of at least 1.
   */
  constructor(most: number, option = "mostRunning") {
    if (!Number.isSafeInteger(most) || most < 1) {
      throw new TypeError(`${option}: must be a whole number, 1 or more`);
    }
    this.#most = most;
  }

  /** The number of pending items of all callers together. */
  get running(): number {
    return [...this.#underWay.values()].reduce((sum, count) => sum + count, 0);
  }

  /**
   * Counts one more item of a caller, synchronously.
   *
   * @returns A function that ends the item; `undefined` if the caller is at its limit.
   */
  take({ principal, invoker }: Caller): (() => void) | undefined {
    const key = JSON.stringify([principal, invoker]);
    const underWay = this.#underWay.get(key) ?? 0;
    if (underWay >= this.#most) return undefined;
    this.#underWay.set(key, underWay + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const left = (this.#underWay.get(key) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(key);
      else this.#underWay.set(key, left);
    };
  }
}

/**
 * Waits for work. If `signal` is aborted first, the promise is rejected at once, since a skill may ignore its
 * own signal.
 */
export async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
  });
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    // The signal may live longer than the work.
    signal.removeEventListener("abort", stop);
  }
}
