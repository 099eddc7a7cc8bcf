/** Milliseconds of work on a long list after which other work is let run. */
const STEP = 2;

/** Splits long work into steps, so that checks and timers run between two of them. */
export class Pace {
  #began = performance.now();

  /** Whether this step has taken its time. */
  get isOver(): boolean {
    return performance.now() - this.#began >= STEP;
  }

  /** Lets other work run, and begins the next step. */
  async rest(): Promise<void> {
    await new Promise<void>((resolve) => {
      // Only Node and its like have the first; the second waits a millisecond or more there.
      if (typeof setImmediate === "function") setImmediate(resolve);
      else setTimeout(resolve, 0);
    });
    this.#began = performance.now();
  }
}
