import type { LedgerEvent } from "../../agent/ledger.js";
import { formatTime } from "../../caveats/time.js";
import { StorageError } from "../../storage/storage-error.js";
import type { LedgerOptions } from "./options.js";
import { type EventRow, eventRow } from "./row.js";
import type { LedgerGap } from "./tables.js";

/** Events that are written together, as rows and as they were noted, and what was lost before. */
export interface Batch {
  readonly rows: readonly EventRow[];
  readonly events: readonly LedgerEvent[];
  readonly lost: LedgerGap | undefined;
  /** Milliseconds that it may wait for other writers; as long as any writer unless given. */
  readonly wait?: number;
}

/** So many events in one transaction, which must not keep the agent from its work for long. */
const BATCH = 512;
/** Milliseconds that a batch waits for other writers; then it is tried again. */
const WAIT = 50;
/** Milliseconds after which a batch that failed is tried again. */
const RETRY = 1000;

/** Events that were noted and wait to be written. */
export class Notes {
  readonly #write: (batch: Batch) => void;
  readonly #interval: number;
  readonly #capacity: number;
  readonly #onProblem: NonNullable<LedgerOptions["onProblem"]>;
  readonly #clock: () => number;
  readonly #queue: LedgerEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #hurrying = false;
  #problem: StorageError | undefined;
  #lost: LedgerGap | undefined;

  /** @param write - Throws a StorageError if it can not. */
  constructor(options: Required<LedgerOptions>, write: (batch: Batch) => void) {
    this.#write = write;
    this.#interval = options.interval;
    this.#capacity = options.capacity;
    this.#onProblem = options.onProblem;
    this.#clock = options.clock;
  }

  /** Why the last batch could not be written; absent if it was. */
  get problem(): StorageError | undefined {
    return this.#problem;
  }

  add(event: LedgerEvent): void {
    if (this.#queue.length >= this.#capacity) {
      this.#lose(1);
      return;
    }
    this.#queue.push(event);
    if (this.#timer === undefined) this.#schedule(this.#interval);
    if (this.#queue.length >= BATCH && !this.#hurrying && this.#problem === undefined) {
      this.#hurrying = true;
      setImmediate(() => {
        this.#hurrying = false;
        this.#writeBatch();
      });
    }
  }

  /**
   * Writes all.
   *
   * @throws StorageError if that could not be done: the rest still waits then.
   */
  drain(): void {
    while (this.#queue.length > 0 || this.#lost !== undefined) this.#writeSome();
  }

  /** Writes nothing more of its own accord. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue.length = 0;
  }

  #schedule(after: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#writeBatch(), after).unref();
  }

  /** Writes one batch if there is one, and says what went wrong. */
  #writeBatch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#queue.length === 0) return;
    try {
      this.#writeSome(WAIT);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#tell(error);
      this.#schedule(RETRY);
      return;
    }
    // The rest at the next turn, so that others get theirs.
    if (this.#queue.length > 0) this.#schedule(this.#queue.length >= BATCH ? 0 : this.#interval);
  }

  /** Writes up to a batch; what could not be written still waits. */
  #writeSome(wait?: number): void {
    const taken = this.#queue.slice(0, BATCH);
    const events: LedgerEvent[] = [];
    const rows: EventRow[] = [];
    const wrong: unknown[] = [];
    for (const event of taken) {
      try {
        rows.push(eventRow(event));
        events.push(event);
      } catch (error) {
        wrong.push(error);
      }
    }
    if (wrong.length > 0) {
      this.#queue.splice(0, taken.length, ...events);
      this.#lose(wrong.length);
      const error = wrong[0] instanceof Error ? wrong[0] : new TypeError("this is no event");
      this.#onProblem({ error, waiting: this.#queue.length, lost: wrong.length });
    }
    this.#write({ rows, events, lost: this.#lost, ...(wait === undefined ? {} : { wait }) });
    this.#queue.splice(0, events.length);
    this.#lost = undefined;
    this.#problem = undefined;
  }

  #lose(count: number): void {
    const now = formatTime(this.#clock());
    const first = this.#lost;
    this.#lost = { from: first?.from ?? now, until: now, lost: (first?.lost ?? 0) + count };
  }

  #tell(error: StorageError): void {
    const before = this.#problem?.code;
    this.#problem = error;
    if (before === error.code) return;
    this.#onProblem({ error, waiting: this.#queue.length, lost: this.#lost?.lost ?? 0 });
  }
}
