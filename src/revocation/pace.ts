/** Milliseconds of work on a long list after which other work may run. */
const STEP = 2;

/** Splits long work into steps, so that checks and timers run between two of them. */
export class Pace {
  #began = performance.now();

  /** Returns whether this step has used up its time. */
  get isOver(): boolean {
    return performance.now() - this.#began >= STEP;
  }

  /** Lets other work run, then begins the next step. */
  async rest(): Promise<void> {
    await new Promise<void>((resolve) => {
      // `setImmediate` exists in Node and compatible runtimes only; `setTimeout` waits a millisecond or more
      // there.
      if (typeof setImmediate === "function") setImmediate(resolve);
      else setTimeout(resolve, 0);
    });
    this.#began = performance.now();
  }
}
