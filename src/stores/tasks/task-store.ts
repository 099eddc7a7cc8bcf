import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { TaskStore as SdkTaskStore, ServerCallContext } from "@a2a-js/sdk/server";
import type { StorageError } from "../../storage/storage-error.js";
import type { StoreDatabase } from "../database.js";
import { viewerOf } from "./accesses.js";
import { PushConfigs } from "./push-configs.js";
import { listTasks, pageOf } from "./task-list.js";
import { columnsOf, RUNNING, taskOf } from "./task-row.js";
import { Tasks } from "./tasks.js";

/** How tasks are kept. */
export interface TaskStoreOptions {
  /** Called when the database cannot be read or written: callers only learn that it does not work. */
  readonly onProblem?: (error: StorageError) => void;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
}

/**
 * Keeps tasks and push configurations in a database of the stores, which the caller closes.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { ServerCallContext } from "@a2a-js/sdk/server";
 * import { openTaskStore, setTaskAccess } from "proviso/a2a";
 * import { openStores } from "proviso/stores";
 *
 * const folder = mkdtempSync(join(tmpdir(), "proviso-"));
 * const database = await openStores(join(folder, "proviso.db"), "create");
 * const tasks = await openTaskStore(database);
 * const mine = new ServerCallContext();
 * setTaskAccess(mine, { principal: "alice", paths: [["rv_identifier", "rv_hop"]] });
 * const theirs = new ServerCallContext();
 * setTaskAccess(theirs, { principal: "bob", paths: [] });
 *
 * const empty = { status: undefined, artifacts: [], history: [], metadata: undefined };
 * await tasks.save({ id: "task-1", contextId: "context-1", ...empty }, mine);
 * (await tasks.load("task-1", mine))?.contextId; // => "context-1"
 * await tasks.load("task-1", theirs); // => undefined
 * await database.close();
 * ```
 */
export async function openTaskStore(
  database: StoreDatabase,
  { onProblem = () => {}, clock = Date.now }: TaskStoreOptions = {},
): Promise<TaskStore> {
  return new TaskStore(new Tasks(database, clock, onProblem));
}

/** Tasks that are removed in one transaction, so that no other write waits for long. */
const STEP = 100;

/**
 * Tasks in a database. Each belongs to the principal and the capabilities that it was first saved
 * with, as {@link setTaskAccess} set them, and is there only for requests with these capabilities, or
 * with ones they were attenuated from; to all others it is as if there were none. Made by
 * {@link openTaskStore}.
 */
export class TaskStore implements SdkTaskStore {
  /** Where callers want notifications of their tasks' progress: in the same database, as visible. */
  readonly pushConfigs: PushConfigs;
  readonly #tasks: Tasks;

  /** @internal Use {@link openTaskStore}. */
  constructor(tasks: Tasks) {
    this.#tasks = tasks;
    this.pushConfigs = new PushConfigs(tasks);
  }

  /**
   * Saves a task; one that is there stays its maker's. Fulfilled once it is on the disk.
   *
   * @throws TypeError if the task has no id, or {@link setTaskAccess} was not called.
   * @throws TaskNotFoundError if there is a task of this id that the request may not see.
   * @throws A2AError if it could not be written; its cause is a StorageError.
   */
  async save(task: Task, context: ServerCallContext): Promise<void> {
    const viewer = viewerOf(context);
    if (task.id === "") throw new TypeError("a task must have an id");
    const id = JSON.stringify(task.id);
    const columns = columnsOf(task);
    const { accesses, clock } = this.#tasks;
    await this.#tasks.write(async (db) => {
      const known = await db
        .selectFrom("task")
        .select("access")
        .where("id", "=", id)
        .executeTakeFirst();
      const values = { ...columns, saved: clock() };
      if (known === undefined) {
        const access = await accesses.put(db, viewer, clock());
        const principal = JSON.stringify(viewer.access.principal);
        await db
          .insertInto("task")
          .values({ id, access, principal, ...values })
          .execute();
        return;
      }
      if (!(await accesses.visible(db, known.access, viewer))) {
        throw new TaskNotFoundError(`Task not found: ${task.id}`);
      }
      await db.updateTable("task").set(values).where("id", "=", id).execute();
    });
  }

  /**
   * A task, if the request may see it.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws A2AError if it could not be read; its cause is a StorageError.
   */
  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const viewer = viewerOf(context);
    return this.#tasks.read(async (db) => {
      const row = await db
        .selectFrom("task")
        .select(["access", "body", "artifacts"])
        .where("id", "=", JSON.stringify(taskId))
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { accesses, stored } = this.#tasks;
      return (await accesses.visible(db, row.access, viewer)) ? taskOf(row, stored) : undefined;
    });
  }

  /**
   * Tasks that the request may see, latest status first, with the filters and pages of the protocol.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws RequestMalformedError if the page's size or token, or the time, is wrong.
   * @throws A2AError if they could not be read; its cause is a StorageError.
   */
  async list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const viewer = viewerOf(context);
    const page = pageOf(params);
    const { accesses, stored } = this.#tasks;
    return this.#tasks.read((db) => listTasks(db, page, viewer, accesses, stored));
  }

  /**
   * Removes tasks that nothing has been saved to for a while, in whatever state they are, and push
   * configurations that are left without a task; a few in each transaction.
   *
   * @param before - Milliseconds since 1970: since when.
   * @returns How many tasks were removed.
   * @throws StorageError if they could not be.
   */
  async prune(before: number): Promise<number> {
    const { accesses, database } = this.#tasks;
    let removed = 0;
    for (;;) {
      const count = await database.write(async (db) => {
        const old = db.selectFrom("task").select("id").where("saved", "<", before).limit(STEP);
        const rows = await db
          .deleteFrom("task")
          .where("id", "in", old)
          .where("saved", "<", before)
          .returning("id")
          .execute();
        const ids = rows.map(({ id }) => id);
        if (ids.length > 0) await db.deleteFrom("push").where("task", "in", ids).execute();
        return ids.length;
      });
      removed += count;
      if (count < STEP) break;
    }
    await database.write((db) =>
      db
        .deleteFrom("push")
        .where("saved", "<", before)
        .where("task", "not in", db.selectFrom("task").select("id"))
        .execute(),
    );
    while ((await database.write((db) => accesses.prune(db, before, STEP))) === STEP);
    return removed;
  }

  /**
   * Marks tasks that were under way as failed: for an agent that starts, and is the only one that runs
   * tasks of this database.
   *
   * @returns How many there were.
   * @throws StorageError if they could not be written.
   */
  async failInterrupted(): Promise<number> {
    const { database, stored, clock } = this.#tasks;
    const timestamp = new Date(clock()).toISOString();
    return database.write(async (db) => {
      const rows = await db
        .selectFrom("task")
        .select(["id", "body", "artifacts"])
        .where("state", "in", RUNNING)
        .execute();
      for (const row of rows) {
        const status = { state: TaskState.TASK_STATE_FAILED, message: undefined, timestamp };
        const columns = columnsOf({ ...taskOf(row, stored), status });
        await db.updateTable("task").set(columns).where("id", "=", row.id).execute();
      }
      return rows.length;
    });
  }
}
