/** Runs functions later: real timers, unless a test turns its own. */
export interface Timers {
  /** Runs something once, after so many milliseconds at least. @returns Calls it off. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Milliseconds of a timer in Node: one more would overflow, and run at once. */
const LONGEST = 2 ** 31 - 1;

/** The process's timers, which do not keep it running. */
export const TIMERS: Timers = {
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(Math.max(milliseconds, 0), LONGEST));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
