import { setImmediate as nextTurn } from "node:timers/promises";
import { CompiledQuery, type Transaction } from "kysely";
import { errorCode } from "../bytes/error-code.js";
import type { Engine } from "./engine.js";
import { type FixedQuery, fixedQuery } from "./fixed-query.js";
import { ownTransaction } from "./own-transaction.js";
import { StorageError } from "./storage-error.js";
import { inScope, type Scope, scopesEnd, scopesStart, underWay } from "./write-scope.js";

/**
 * What one call writes, in a transaction that it may share with others. Nothing runs in it once the call is over. While
 * the call waits for something else, the other calls wait too, so that it must not wait for one of them.
 */
export type Write<Tables, T> = (transaction: Transaction<Tables>) => Promise<T>;

/** How a call writes. */
export interface WriteOptions {
  /** Whether it is written even when the disk is nearly full: for revocations, and for what makes room. */
  readonly urgent?: boolean;
  /**
   * Whether a crash of the whole system may lose what was just committed to a file; a crash of this
   * process never does. False unless given.
   */
  readonly relaxed?: boolean;
  /**
   * Whether it does nothing but by the transaction, whose failures it lets through: it may then run again, where
   * another call fails that shares it. False unless given. What a deadlock ends runs again in any case.
   */
  readonly repeatable?: boolean;
}

interface Job<Tables> extends Required<WriteOptions> {
  attempts: number;
  /** Writes, and gives what fulfills the call once that is committed. */
  run(transaction: Transaction<Tables>): Promise<() => void>;
  fail(error: unknown): void;
}

/** Calls that share one transaction: a commit waits for the disk, whatever it commits. */
const MAX_GROUP = 64;
/** Turns of the event loop for which a group waits for further calls at most. */
const MAX_TURNS = 4;
/** Milliseconds for which a disk that has twice the reserve is not asked again. */
const AMPLE = 100;
/** How often a call is made that a deadlock ends. */
const MAX_ATTEMPTS = 4;
/** Groups that have savepoints after one that had none has failed: callers can make calls that fail. */
const CAREFUL = 64;

/**
 * Group commit: the calls that come while a transaction is under way share the next one, and each promise is
 * fulfilled only when its transaction is committed. A call that fails takes nothing of the others with it: either
 * each has a savepoint of its own, or, where all may run again, the group is rolled back and then written with them.
 */
export class GroupCommit<Tables> {
  readonly #engine: Engine<Tables>;
  readonly #reserve: number;
  readonly #savepoint = statement<Tables>("SAVEPOINT call");
  readonly #rollBack = statement<Tables>("ROLLBACK TO SAVEPOINT call");
  readonly #release = statement<Tables>("RELEASE SAVEPOINT call");
  readonly #waiting: Job<Tables>[] = [];
  #running: Promise<void> | undefined;
  /** Until when the disk is not asked for its room. */
  #ample = 0;
  /** Groups that are still to have savepoints. */
  #careful = 0;

  /** @param reserve - Bytes that must be free for a write that is not urgent. */
  constructor(engine: Engine<Tables>, reserve: number) {
    this.#engine = engine;
    this.#reserve = reserve;
  }

  /** @throws TypeError from within a write: it would wait for itself. */
  assertOutside(): void {
    for (let scope = underWay(); scope !== undefined; scope = scope.outer) {
      if (scope.of !== this || scope.over) continue;
      throw new TypeError("a write is under way here: use the transaction that it was given");
    }
  }

  write<T>(
    action: Write<Tables, T>,
    { urgent = false, relaxed = false, repeatable = false }: WriteOptions,
  ): Promise<T> {
    this.assertOutside();
    const outer = underWay();
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        attempts: 1,
        urgent,
        relaxed,
        repeatable,
        run: async (transaction) => {
          const scope: Scope = { of: this, outer, over: false };
          try {
            const value = await inScope(scope, () => action(ownTransaction(transaction, scope)));
            return () => resolve(value);
          } finally {
            scope.over = true;
          }
        },
        fail: reject,
      });
      this.#running ??= this.#work();
    });
  }

  /** Fulfilled when everything that waits has been written or refused. */
  async drain(): Promise<void> {
    await this.#running;
  }

  async #work(): Promise<void> {
    // The first group: calls of this turn of the event loop, and of further turns as long as each brings more.
    for (let turn = 0, known = 0; turn < MAX_TURNS && known < this.#waiting.length; turn++) {
      known = this.#waiting.length;
      await nextTurn();
    }
    // Each further one: what came while the last was written.
    while (this.#waiting.length > 0) {
      const group = await this.#admitted(this.#waiting.splice(0, MAX_GROUP));
      // Revocations take their lock before any other, in every process: no two wait for each other.
      group.sort((a, b) => Number(b.urgent) - Number(a.urgent));
      if (group.length > 0) await this.#commit(group, this.#savepointsOf(group));
    }
    this.#running = undefined;
  }

  /** Whether each call of a group needs a savepoint. */
  #savepointsOf(group: readonly Job<Tables>[]): boolean {
    if (this.#careful === 0) return !group.every(({ repeatable }) => repeatable);
    this.#careful -= 1;
    return true;
  }

  async #commit(group: readonly Job<Tables>[], savepoints: boolean): Promise<void> {
    const { writer } = this.#engine;
    const failed = new Map<Job<Tables>, unknown>();
    const settle: (() => void)[] = [];
    try {
      this.#engine.assertInPlace();
      this.#engine.relax(group.every(({ relaxed }) => relaxed));
      await writer.transaction().execute(async (transaction) => {
        scopesStart();
        const whole = ownTransaction(transaction, { over: false });
        try {
          for (const job of group) {
            if (savepoints) await this.#savepoint(whole, {});
            try {
              const fulfill = await job.run(transaction);
              // PostgreSQL refuses it where a query of the call has failed and the call has passed over that.
              if (savepoints) await this.#release(whole, {});
              settle.push(fulfill);
            } catch (error) {
              failed.set(job, error);
              if (!savepoints) throw error;
              await this.#rollBack(whole, {});
              await this.#release(whole, {});
            }
          }
        } finally {
          scopesEnd();
        }
      });
      // Moved away during the commit, it may be lost to the next process that opens the path.
      this.#engine.assertInPlace();
    } catch (error) {
      if (!savepoints && group.length > 1 && failed.size > 0) {
        this.#careful = CAREFUL;
        return this.#apart(group, failed);
      }
      // What made the transaction itself fail came first.
      for (const job of group) this.#failed(job, failed.get(job) ?? error);
      return;
    }
    for (const [job, error] of failed) this.#failed(job, error);
    for (const fulfill of settle) fulfill();
  }

  /** Writes a group again that was rolled back. A failure of the database itself is not waited for twice. */
  async #apart(
    group: readonly Job<Tables>[],
    failed: ReadonlyMap<Job<Tables>, unknown>,
  ): Promise<void> {
    const again = group.filter((job) => !(failed.get(job) instanceof StorageError));
    for (const [job, error] of failed) if (!again.includes(job)) this.#failed(job, error);
    await this.#commit(again, true);
  }

  /** Makes a call again that a deadlock with another process ended; any other failure is its answer. */
  #failed(job: Job<Tables>, error: unknown): void {
    if (isDeadlock(error) && job.attempts < MAX_ATTEMPTS) {
      job.attempts += 1;
      this.#waiting.unshift(job);
    } else {
      job.fail(error);
    }
  }

  /** Bytes that are free, if that is fewer than are to be kept free. Of a disk with much room, as lately known. */
  async shortage(): Promise<number | undefined> {
    if (this.#reserve === 0 || performance.now() < this.#ample) return undefined;
    const free = await this.#engine.freeBytes().catch(() => undefined);
    if (free !== undefined && free >= 2 * this.#reserve) this.#ample = performance.now() + AMPLE;
    return free !== undefined && free < this.#reserve ? free : undefined;
  }

  /** Refuses what is not urgent while the disk is nearly full. */
  async #admitted(group: Job<Tables>[]): Promise<Job<Tables>[]> {
    if (group.every(({ urgent }) => urgent)) return group;
    const free = await this.shortage();
    if (free === undefined) return group;
    const detail = `${mebibytes(free)} MiB of its disk are free, and ${mebibytes(this.#reserve)} are kept for revocations`;
    for (const job of group) {
      if (!job.urgent) job.fail(new StorageError("store_full", this.#engine.name, { detail }));
    }
    return group.filter(({ urgent }) => urgent);
  }
}

function statement<Tables>(text: string): FixedQuery<Tables, Record<never, never>, unknown> {
  return fixedQuery(() => CompiledQuery.raw(text));
}

function isDeadlock(error: unknown): boolean {
  return error instanceof StorageError && ["40P01", "40001"].includes(errorCode(error.cause));
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
