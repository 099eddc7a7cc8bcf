import type { Approval } from "./approval.js";

/** Milliseconds between two looks: another process may decide. */
const INTERVAL = 1000;

/** Who waits for approvals to be settled. */
export class Waiting {
  readonly #look: (id: string) => Promise<Approval | undefined>;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(look: (id: string) => Promise<Approval | undefined>) {
    this.#look = look;
  }

  /** Lets those look again that wait for an approval. */
  wake(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  async settled(id: string, signal: AbortSignal): Promise<Approval> {
    for (;;) {
      signal.throwIfAborted();
      // Woken while it looks, it looks again.
      const woken = this.#pause(id, signal);
      try {
        const approval = await this.#look(id);
        if (approval === undefined) throw new TypeError("there is no such approval");
        if (approval.state !== "pending") return approval;
        await woken.done;
      } finally {
        woken.stop();
      }
    }
  }

  #pause(
    id: string,
    signal: AbortSignal,
  ): { readonly done: Promise<void>; readonly stop: () => void } {
    const others = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, others);
    let wake: () => void = () => {};
    const done = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const timer = setTimeout(wake, INTERVAL);
    others.add(wake);
    signal.addEventListener("abort", wake);
    const stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      others.delete(wake);
      if (others.size === 0 && this.#waiting.get(id) === others) this.#waiting.delete(id);
    };
    return { done, stop };
  }
}
