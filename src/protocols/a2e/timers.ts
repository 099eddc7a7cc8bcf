/** Runs functions after a delay. Tests can replace the process's timers. */
export interface Timers {
  /**
   * Runs a function once, after at least this many milliseconds.
   *
   * @returns A function that cancels the timer.
   */
  after(milliseconds: number, run: () => void): () => void;
}

/** Longest delay of a Node timer, in milliseconds. With a longer delay, Node would run the function at once. */
const LONGEST = 2 ** 31 - 1;

/** The process's timers. A pending timer does not keep the process running. */
export const TIMERS: Timers = {
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(Math.max(milliseconds, 0), LONGEST));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
