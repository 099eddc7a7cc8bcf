/** Milliseconds between two readings of the state. */
const INTERVAL = 500;

/** Reads a state repeatedly while there are listeners, and calls the listeners when it has changed. */
export class ChangeWatch {
  readonly #state: () => string;
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #known: string | undefined;

  /** @param state - Returns a string that differs after each change. If the function throws, the state is "unknown". */
  constructor(state: () => string) {
    this.#state = state;
  }

  /** @returns A function that removes the listener. */
  add(listener: () => void): () => void {
    if (this.#timer === undefined) {
      this.#known = this.#look();
      this.#timer = setInterval(() => this.#compare(), INTERVAL).unref();
    }
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#listeners.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #compare(): void {
    const state = this.#look();
    if (state === this.#known) return;
    this.#known = state;
    for (const listener of [...this.#listeners]) listener();
  }

  #look(): string {
    try {
      return this.#state();
    } catch {
      return "unknown";
    }
  }
}
