import { AsyncResource } from "node:async_hooks";

/** Outside of every call: what is made in its scope keeps no call's asynchronous context. */
const OUTSIDE = new AsyncResource("RunLimit");

// One for all: most runs are over long before, and to make it takes the stack of each.
const TOO_LONG = Object.freeze(new DOMException("it took too long", "TimeoutError"));

/**
 * Ends a run before it is done: when its time is over, or when something aborts it. As an `AbortController`, but its
 * signal is made when it is first asked for. Most skills ask for none, and a signal, with the timer that aborts what
 * a run leaves behind, would be kept for the whole of its time.
 */
export class RunLimit {
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When its time is over, as `performance.now` counts. */
  #until = Number.POSITIVE_INFINITY;
  #over = false;
  #aborted: { readonly reason: unknown } | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  get aborted(): boolean {
    return this.#aborted !== undefined;
  }

  get reason(): unknown {
    return this.#aborted?.reason;
  }

  /** Aborted with the run; and when its time is over, also where the run is over before. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
      else if (this.#over) this.#startTimer();
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = { reason };
    clearTimeout(this.#timer);
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }

  /**
   * Settles when the work does, or with the reason when it is aborted: not every skill listens to its signal.
   *
   * @param milliseconds - From now, until its time is over.
   */
  async hold<T>(work: Promise<T>, milliseconds: number): Promise<T> {
    this.#until = performance.now() + milliseconds;
    this.#startTimer();
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#reject = reject;
        work.then(resolve, reject);
        if (this.#aborted !== undefined) reject(this.#aborted.reason);
      });
    } finally {
      this.#over = true;
      this.#reject = undefined;
      if (this.#controller === undefined) clearTimeout(this.#timer);
    }
  }

  /** The timer keeps this alone: neither the run, through a function's scope, nor its asynchronous context. */
  #startTimer(): void {
    const left = Math.ceil(this.#until - performance.now());
    const late = (): void => this.abort(TOO_LONG);
    if (left <= 0) late();
    else this.#timer = OUTSIDE.runInAsyncScope(() => setTimeout(late, left).unref());
  }
}
