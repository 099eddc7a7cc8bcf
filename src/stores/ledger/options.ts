/** Why what was noted is not in the file yet, or never will be. */
export interface LedgerProblem {
  /** A StorageError, or a TypeError for an event that is none. */
  readonly error: Error;
  /** How many events wait to be written. */
  readonly waiting: number;
  /** How many were lost since the last batch that was written. */
  readonly lost: number;
}

/** How a ledger is kept. */
export interface LedgerOptions {
  /**
   * Milliseconds for which an event may wait to be written, and so what a crash may lose of those
   * noted; 100 unless given.
   */
  readonly interval?: number;
  /** How many events may wait if they can not be written; 100,000 unless given. More are lost. */
  readonly capacity?: number;
  /**
   * Told when noting goes wrong: once when it starts to, and when the error becomes another. Must
   * not throw.
   */
  readonly onProblem?: (problem: LedgerProblem) => void;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
}

const OPTIONS = ["interval", "capacity", "onProblem", "clock"];

/**
 * All options, with what holds where none is given.
 *
 * @throws TypeError
 */
export function ledgerOptions(options: LedgerOptions): Required<LedgerOptions> {
  const unknown = Object.keys(options).find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined) {
    throw new TypeError(`unknown option "${unknown}"; there are ${OPTIONS.join(", ")}`);
  }
  const { interval = 100, capacity = 100_000, onProblem = () => {}, clock = Date.now } = options;
  if (!Number.isFinite(interval) || interval < 0 || interval > 60_000) {
    throw new TypeError("interval must be 0 to 60,000 milliseconds");
  }
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw new TypeError("capacity must be a whole number of at least 1");
  }
  return { interval, capacity, onProblem, clock };
}
