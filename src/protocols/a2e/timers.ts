/** Runs functions later. Real timers, except in tests. */
export interface Timers {
  /** Runs a function once, after at least this many milliseconds. @returns A function that cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Longest delay of a Node timer in milliseconds; with a longer one, the function would run at once. */
const LONGEST = 2 ** 31 - 1;

/** The process's timers, which do not keep it running. */
export const TIMERS: Timers = {
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(Math.max(milliseconds, 0), LONGEST));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
