/** Milliseconds of work on a long list after which other work may run. */
const STEP = 2;

/** Splits long work into steps, so that checks and timers can run between them. */
export class Pace {
  #began = performance.now();

  /** Returns whether this step has used up its time. */
  get isOver(): boolean {
    return performance.now() - this.#began >= STEP;
  }

  /** Lets other work run, then begins the next step. */
  async rest(): Promise<void> {
    await new Promise<void>((resolve) => {
      // Only Node and compatible runtimes have `setImmediate`; with `setTimeout` the pause is a millisecond or
      // more.
      if (typeof setImmediate === "function") setImmediate(resolve);
      else setTimeout(resolve, 0);
    });
    this.#began = performance.now();
  }
}
