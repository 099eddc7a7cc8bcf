import { randomUUID } from "node:crypto";
import { Message, type Task, TaskState } from "@a2a-js/sdk";
import type { StoreQueries } from "../../../stores/database.js";
import type { TaskDatabase } from "./task-database.js";
import { columnsOf, taskOf } from "./task-rows.js";

/** Milliseconds without a renewal after which an instance counts as gone. */
const LEASE = 15_000;
/** Number of renewals within one lease. */
const RENEWALS = 5;
/** Maximum number of tasks that one transaction fails. */
const STEP = 100;

/**
 * The lease of one server instance, renewed while the instance lives. The running tasks of an instance refer to
 * its lease. Other instances with the same database fail these tasks once the lease has expired, but not
 * earlier. If instances run on several machines, their clocks must agree to within seconds.
 */
export class Lease {
  /** The id of this instance. */
  readonly id: string = randomUUID();
  readonly #tasks: TaskDatabase;
  readonly #length: number;
  /** Tasks whose outcome could not be written, with the text for their status. */
  readonly #unwritten = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();

  /** @throws TypeError if the length is not an integer of at least 100 milliseconds. */
  constructor(tasks: TaskDatabase, length: number = LEASE) {
    if (!Number.isSafeInteger(length) || length < 100) {
      throw new TypeError("lease: must be a whole number of milliseconds, 100 or more");
    }
    this.#tasks = tasks;
    this.#length = length;
  }

  /**
   * Takes the lease, and fails the tasks of instances that are gone.
   *
   * @throws StorageError if the database cannot be read or written.
   */
  async start(): Promise<void> {
    await this.#renew();
    await this.#failLost();
    const beat = (): void => {
      this.#beating = this.#beating.then(() => this.#beat());
    };
    this.#timer = setInterval(beat, this.#length / RENEWALS);
    this.#timer.unref();
  }

  /** Fails a task of this instance as soon as the database can be written. */
  failLater(taskId: string, why: string): void {
    this.#unwritten.set(taskId, why);
  }

  /** Fails this instance's running tasks, and gives up the lease. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    await this.#attempt(async () => {
      await this.#failUnwritten();
      await this.#failAll(this.id);
    });
  }

  async #beat(): Promise<void> {
    await this.#attempt(async () => {
      await this.#renew();
      await this.#failUnwritten();
      await this.#failLost();
    });
  }

  async #renew(): Promise<void> {
    const until = this.#tasks.clock() + this.#length;
    await this.#tasks.database.write(
      (db) =>
        db
          .insertInto("instance")
          .values({ id: this.id, until })
          .onConflict((conflict) => conflict.column("id").doUpdateSet({ until }))
          .execute(),
      // Urgent, so that the lease is renewed even on a nearly full disk. Otherwise, other instances would fail
      // this instance's tasks.
      { urgent: true },
    );
  }

  async #failUnwritten(): Promise<void> {
    for (const [id, why] of this.#unwritten) {
      await this.#fail(this.id, why, JSON.stringify(id));
      this.#unwritten.delete(id);
    }
  }

  async #failLost(): Promise<void> {
    const now = this.#tasks.clock();
    const gone = await this.#tasks.database.read((db) =>
      db
        .selectFrom("instance")
        .select("id")
        .where("until", "<", now)
        .where("id", "!=", this.id)
        .execute(),
    );
    for (const { id } of gone) await this.#failAll(id);
  }

  async #failAll(instance: string): Promise<void> {
    while ((await this.#fail(instance, INTERRUPTED)) === STEP);
    await this.#tasks.database.write((db) =>
      db
        .deleteFrom("instance")
        .where("id", "=", instance)
        .$if(instance !== this.id, (query) => query.where("until", "<", this.#tasks.clock()))
        .execute(),
    );
  }

  /**
   * Fails at most {@link STEP} running tasks of an instance, or only the task `only`. Tasks of another instance
   * are failed only if the lease of that instance has expired.
   *
   * @returns The number of tasks that were failed.
   */
  #fail(instance: string, why: string, only?: string): Promise<number> {
    const { clock, database } = this.#tasks;
    return database.write(async (db) => {
      if (instance !== this.id && !(await isGone(db, instance, clock()))) return 0;
      const rows = await db
        .selectFrom("task")
        .select(["seq", "body", "artifacts"])
        .where("instance", "=", instance)
        .$if(only !== undefined, (query) => query.where("id", "=", only ?? ""))
        .limit(STEP)
        .execute();
      for (const row of rows) {
        const failed = failedTask(
          this.#tasks.readStored(() => taskOf(row)),
          why,
          clock(),
        );
        await db
          .updateTable("task")
          .set({ ...columnsOf(failed), instance: null })
          .where("seq", "=", row.seq)
          .where("instance", "=", instance)
          .execute();
      }
      return rows.length;
    });
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#tasks.report(error);
    }
  }
}

/** Returns whether the lease of an instance has expired. The lease cannot be renewed before the transaction ends. */
async function isGone(db: StoreQueries, id: string, now: number): Promise<boolean> {
  // An UPDATE instead of a SELECT, because on PostgreSQL it locks the row: a renewal waits for this
  // transaction, or this statement waits for a pending renewal.
  const { numUpdatedRows } = await db
    .updateTable("instance")
    .set((of) => ({ until: of.ref("until") }))
    .where("id", "=", id)
    .where("until", "<", now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const INTERRUPTED =
  "the agent ended while this was under way; it may have taken effect, and does not run again";

function failedTask(task: Task, why: string, now: number): Task {
  const message = Message.fromJSON({
    messageId: randomUUID(),
    contextId: task.contextId,
    taskId: task.id,
    role: "ROLE_AGENT",
    parts: [{ text: why, mediaType: "text/plain" }],
  });
  const timestamp = new Date(now).toISOString();
  const status = { state: TaskState.TASK_STATE_FAILED, message, timestamp };
  return { ...task, status, history: [...task.history, message] };
}
