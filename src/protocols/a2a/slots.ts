import type { Caller } from "../../agent/caller.js";
import { type Fault, fault } from "./errors.js";
import { ERROR_CODES } from "./extension.js";

/** The answer to a caller that has no slot left. */
export const BUSY: Fault = {
  ...fault(
    ERROR_CODES.rateLimited,
    "as many of this caller's tasks are running as may; wait until one is done",
    "too_many_tasks",
  ),
  retryAfter: 1,
};

/** How much of one caller's work is under way at once, however it came and whatever waits for it. */
export class Slots {
  readonly #most: number;
  readonly #taken = new Map<string, number>();

  /** @param most - Of one caller. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a slot, before anything is awaited. @returns Gives it back, once; `undefined` if none is left. */
  take({ principal, invoker }: Caller): (() => void) | undefined {
    const key = JSON.stringify([principal, invoker]);
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= this.#most) return undefined;
    this.#taken.set(key, taken + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const left = (this.#taken.get(key) ?? 1) - 1;
      if (left === 0) this.#taken.delete(key);
      else this.#taken.set(key, left);
    };
  }
}
