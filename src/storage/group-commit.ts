import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql, type Transaction } from "kysely";
import { errorCode } from "../system/error-code.js";
import { CallerQueries, type Engine, type Queries } from "./engine.js";
import { inTime } from "./in-time.js";
import { StorageError, type StorageErrorCode } from "./storage-error.js";

/** The callback of a write. It may only await its own queries, since other writes wait until the callback settles. */
export type Write<Tables, T> = (db: Queries<Tables>) => Promise<T>;

/** Options of a write. */
export interface WriteOptions {
  /**
   * Writes even if the disk is nearly full. For revocations, for writes that free space, and for the lease of an
   * instance. False unless given.
   */
  readonly urgent?: boolean;
}

/** Limits for all writes. */
export interface WriteLimits {
  /** Bytes that must be free on the disk for an ordinary write. */
  readonly reserve: number;
  /** Milliseconds after which a callback that has not settled fails. */
  readonly writeTimeout: number;
}

interface Job<Tables> {
  readonly urgent: boolean;
  attempts: number;
  /** Runs the callback, and returns a function that resolves the call's promise. */
  run(transaction: Transaction<Tables>): Promise<() => void>;
  fail(error: unknown): void;
}

/**
 * Maximum number of calls that share one transaction. A commit waits for the disk once, however much data it
 * writes.
 */
const MAX_GROUP = 64;
/** Maximum number of times that a call runs if it ends in a deadlock. */
const MAX_ATTEMPTS = 4;
/** Milliseconds for which a refused write is reported as a problem. */
const REMEMBERED = 10_000;
/**
 * Error codes for a disk that takes no writes. The number of free bytes does not show a disk quota, a file size limit
 * or a read-only disk.
 */
const LASTING: readonly StorageErrorCode[] = ["store_full", "store_unwritable"];

const SAVEPOINT: RawBuilder<unknown> = sql`SAVEPOINT call`;
const ROLL_BACK: RawBuilder<unknown> = sql`ROLLBACK TO SAVEPOINT call`;
const RELEASE: RawBuilder<unknown> = sql`RELEASE SAVEPOINT call`;

/**
 * Group commit: calls that arrive during a transaction share the next transaction. Each call has its own
 * savepoint, so a failed call is rolled back alone. The calls' promises resolve once the transaction is
 * committed.
 */
export class GroupCommit<Tables> {
  readonly #engine: Engine<Tables>;
  readonly #limits: WriteLimits;
  readonly #waiting: Job<Tables>[] = [];
  #running: Promise<void> | undefined;
  #refused: { readonly code: StorageErrorCode; readonly until: number } | undefined;

  constructor(engine: Engine<Tables>, limits: WriteLimits) {
    this.#engine = engine;
    this.#limits = limits;
  }

  write<T>(action: Write<Tables, T>, { urgent = false }: WriteOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = async (transaction: Transaction<Tables>): Promise<() => void> => {
        const queries = new CallerQueries<Tables>(transaction);
        try {
          const value = await inTime(action(queries), this.#limits.writeTimeout, () =>
            this.#tooLate(),
          );
          return () => resolve(value);
        } finally {
          queries.end();
        }
      };
      this.#waiting.push({ urgent, attempts: 1, run, fail: reject });
      this.#running ??= this.#work();
    });
  }

  /**
   * The code with which the disk has just refused a write; `undefined` after a successful write, or after 10
   * seconds.
   */
  get problem(): StorageErrorCode | undefined {
    return this.#refused !== undefined && performance.now() < this.#refused.until
      ? this.#refused.code
      : undefined;
  }

  /** Resolves once every waiting call has been written or refused. */
  async drain(): Promise<void> {
    await this.#running;
  }

  async #work(): Promise<void> {
    // Calls of the same turn of the event loop share the first transaction.
    await nextTurn();
    while (this.#waiting.length > 0) {
      const group = await this.#admitted(this.#waiting.splice(0, MAX_GROUP));
      // Urgent calls run first: every process then takes the revocation lock before any other lock, so that
      // processes cannot deadlock.
      group.sort((a, b) => Number(b.urgent) - Number(a.urgent));
      if (group.length > 0) await this.#commit(group);
    }
    this.#running = undefined;
  }

  async #commit(group: readonly Job<Tables>[]): Promise<void> {
    const failed = new Map<Job<Tables>, unknown>();
    const written: (() => void)[] = [];
    try {
      this.#engine.assertInPlace();
      await this.#engine.writer.transaction().execute(async (transaction) => {
        for (const job of group) {
          await SAVEPOINT.execute(transaction);
          try {
            const fulfill = await job.run(transaction);
            // On PostgreSQL, this statement fails if one of the call's queries failed and the callback caught
            // the error.
            await RELEASE.execute(transaction);
            written.push(fulfill);
          } catch (error) {
            failed.set(job, error);
            await ROLL_BACK.execute(transaction);
            await RELEASE.execute(transaction);
          }
        }
      });
      // If the file was moved during the commit, the next process that opens the path may not see the data.
      this.#engine.assertInPlace();
    } catch (error) {
      // Reject a call with its own error if it has one, since that error may have made the transaction fail.
      for (const job of group) this.#failed(job, failed.get(job) ?? error);
      return;
    }
    if (written.length > 0) this.#refused = undefined;
    for (const [job, error] of failed) this.#failed(job, error);
    for (const fulfill of written) fulfill();
  }

  /** Rejects a call, or runs it again after a deadlock with another process. */
  #failed(job: Job<Tables>, error: unknown): void {
    if (error instanceof StorageError && LASTING.includes(error.code)) {
      this.#refused = { code: error.code, until: performance.now() + REMEMBERED };
    }
    if (isDeadlock(error) && job.attempts < MAX_ATTEMPTS) {
      job.attempts += 1;
      this.#waiting.unshift(job);
    } else {
      job.fail(error);
    }
  }

  #tooLate(): StorageError {
    const detail =
      `its callback has not settled within ${this.#limits.writeTimeout / 1000} s; ` +
      "it must wait for its own queries alone, and for no other write";
    return new StorageError("store_timeout", this.#engine.name, { detail });
  }

  /** Returns the free bytes if they are fewer than the reserve, otherwise `undefined`. */
  async shortage(): Promise<number | undefined> {
    const { reserve } = this.#limits;
    if (reserve === 0) return undefined;
    const free = await this.#engine.freeBytes().catch(() => undefined);
    return free !== undefined && free < reserve ? free : undefined;
  }

  /**
   * Rejects ordinary writes if the disk is nearly full.
   * @returns The calls that were not rejected.
   */
  async #admitted(group: Job<Tables>[]): Promise<Job<Tables>[]> {
    if (group.every(({ urgent }) => urgent)) return group;
    const free = await this.shortage();
    if (free === undefined) return group;
    const detail = `${mebibytes(free)} MiB of its disk are free, and ${mebibytes(this.#limits.reserve)} are kept for revocations`;
    for (const job of group) {
      if (!job.urgent) job.fail(new StorageError("store_full", this.#engine.name, { detail }));
    }
    return group.filter(({ urgent }) => urgent);
  }
}

function isDeadlock(error: unknown): boolean {
  return error instanceof StorageError && ["40P01", "40001"].includes(errorCode(error.cause));
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
