import type { LedgerEvent } from "../../agent/ledger.js";
import { formatTime } from "../../caveats/time.js";
import { errorCode } from "../../system/error-code.js";
import { type EventRow, eventRow } from "./row.js";

/** A period in which the ledger is incomplete. */
export interface LedgerGap {
  /** The times of the first and the last lost event: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly from: string;
  readonly until: string;
  /** Number of lost events. */
  readonly lost: number;
}

/** The reason why noted events are not written at present, or were lost. */
export interface LedgerProblem {
  /** A StorageError, or a TypeError for an invalid event. */
  readonly error: Error;
  /** Number of events waiting to be written. */
  readonly waiting: number;
  /** Number of events lost since the last successful batch. */
  readonly lost: number;
}

/** Options for writing noted events. */
export interface NotesOptions {
  /**
   * Maximum time that an event waits before it is written, in milliseconds; 100 unless given. A crash loses at
   * most the events of this time.
   */
  readonly interval?: number;
  /**
   * Maximum number of events that wait while the database cannot be written; 100,000 unless given. Further
   * events are lost.
   */
  readonly capacity?: number;
  /** Called when writing begins to fail, when the error changes, and when an event is invalid. Must not throw. */
  readonly onProblem?: (problem: LedgerProblem) => void;
  /** Returns the current time, in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
}

/** One batch: the events as rows and as given, and the gap of events that were lost before the batch. */
export interface Batch {
  readonly rows: readonly EventRow[];
  readonly events: readonly LedgerEvent[];
  readonly lost: LedgerGap | undefined;
}

/** Maximum number of events in one batch. The process does nothing else while it prepares a batch. */
const MAX_BATCH = 512;
/** Milliseconds before a failed batch is retried. */
const RETRY = 1000;

/** The queue of noted events, written one batch at a time. */
export class Notes {
  readonly #write: (batch: Batch) => Promise<void>;
  readonly #options: Required<NotesOptions>;
  readonly #queue: LedgerEvent[] = [];
  /** Number of events that have left the queue. */
  #settled = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Pending while a batch is being written. */
  #writing: Promise<void> | undefined;
  #problem: Error | undefined;
  #lost: LedgerGap | undefined;

  /** @param write - Writes a batch. Resolves once the batch is committed. */
  constructor(options: Required<NotesOptions>, write: (batch: Batch) => Promise<void>) {
    this.#options = options;
    this.#write = write;
  }

  /** The reason why the last batch could not be written; absent if it was written. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  add(event: LedgerEvent): void {
    if (this.#queue.length >= this.#options.capacity) {
      this.#lose(1);
      return;
    }
    this.#queue.push(event);
    if (this.#queue.length === MAX_BATCH && this.#problem === undefined) this.#schedule(0);
    else if (this.#timer === undefined) this.#schedule(this.#options.interval);
  }

  /**
   * Writes all events that are waiting at the time of the call.
   *
   * @throws StorageError if writing fails; unwritten events keep waiting.
   */
  async drain(): Promise<void> {
    const until = this.#settled + this.#queue.length;
    while (this.#settled < until || (this.#queue.length === 0 && this.#lost !== undefined)) {
      await this.#writeBatch();
    }
  }

  /** Stops the timer that writes batches, and drops the events that are still waiting. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }

  #schedule(after: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#writeSome(), after).unref();
  }

  /** Writes one batch, and further batches as long as a full batch is waiting. Reports failures. */
  async #writeSome(): Promise<void> {
    try {
      if (this.#queue.length > 0) await this.#writeBatch();
      while (this.#queue.length >= MAX_BATCH) await this.#writeBatch();
      this.#timer = undefined;
      if (this.#queue.length > 0) this.#schedule(this.#options.interval);
    } catch (error) {
      this.#report(error instanceof Error ? error : new TypeError(String(error)));
      this.#schedule(RETRY);
    }
  }

  #writeBatch(): Promise<void> {
    this.#writing ??= this.#writeNext().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /** Writes at most one batch; unwritten events keep waiting. */
  async #writeNext(): Promise<void> {
    const batch = this.#nextBatch();
    this.#lost = undefined;
    try {
      await this.#write(batch);
    } catch (error) {
      this.#lost = joined(batch.lost, this.#lost);
      throw error;
    }
    this.#queue.splice(0, batch.events.length);
    this.#settled += batch.events.length;
    this.#problem = undefined;
  }

  /** Returns the next batch. Invalid events are left out and lost. */
  #nextBatch(): Batch {
    const taken = this.#queue.slice(0, MAX_BATCH);
    const events: LedgerEvent[] = [];
    const rows: EventRow[] = [];
    let wrong: Error | undefined;
    for (const event of taken) {
      try {
        rows.push(eventRow(event));
        events.push(event);
      } catch (error) {
        wrong ??= error instanceof Error ? error : new TypeError("an event is invalid");
      }
    }
    const lost = taken.length - events.length;
    if (wrong !== undefined) {
      this.#queue.splice(0, taken.length, ...events);
      this.#settled += lost;
      this.#lose(lost);
      this.#options.onProblem({ error: wrong, waiting: this.#queue.length, lost });
    }
    return { rows, events, lost: this.#lost };
  }

  #lose(lost: number): void {
    const now = formatTime(this.#options.clock());
    this.#lost = joined(this.#lost, { from: now, until: now, lost });
  }

  #report(error: Error): void {
    const before = this.#problem;
    this.#problem = error;
    if (before !== undefined && errorCode(before) === errorCode(error)) return;
    const { lost = 0 } = this.#lost ?? {};
    this.#options.onProblem({ error, waiting: this.#queue.length, lost });
  }
}

function joined(first: LedgerGap | undefined, next: LedgerGap | undefined): LedgerGap | undefined {
  if (first === undefined || next === undefined) return first ?? next;
  return { from: first.from, until: next.until, lost: first.lost + next.lost };
}
