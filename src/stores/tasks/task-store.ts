import { type ListTasksRequest, type ListTasksResponse, Task, TaskState } from "@a2a-js/sdk";
import { A2AError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { ServerCallContext, TaskStore } from "@a2a-js/sdk/server";
import { loadDriver } from "../../storage/sqlite-driver.js";
import { openOrCreate, type SqliteFile } from "../../storage/sqlite-file.js";
import { StorageError } from "../../storage/storage-error.js";
import { SqlitePushConfigs } from "./push-configs.js";
import { listTasks, pageOf, taskOf, timeOf } from "./task-list.js";
import { TASKS, TaskTables, viewerOf } from "./task-tables.js";

/** How a task store is kept. */
export interface TaskStoreOptions {
  /** Told when the file can not be read or written: callers only learn that it does not work. */
  readonly onProblem?: (error: StorageError) => void;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
}

/** Before any time that a status can have. */
const NEVER = Number.MIN_SAFE_INTEGER;

/**
 * Opens a task store, or makes an empty one, mode 0600, if there is none.
 *
 * @throws StorageError `store_unreadable`, `store_unwritable`, `store_full`, `store_locked`,
 *   `store_exposed` if others have any right to it (not looked at on Windows), `store_corrupt` also
 *   for a file that is no task store, `store_exists` for what is left of an older one beside a missing
 *   one, `store_version` if a newer proviso made it, or `store_unavailable` if libsql is not installed.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { ServerCallContext } from "@a2a-js/sdk/server";
 * import { openTaskStore, setTaskAccess } from "proviso/a2a";
 *
 * const tasks = await openTaskStore(join(mkdtempSync(join(tmpdir(), "proviso-")), "tasks.db"));
 * const mine = new ServerCallContext();
 * setTaskAccess(mine, { principal: "alice", paths: [["rv_identifier", "rv_hop"]] });
 * const theirs = new ServerCallContext();
 * setTaskAccess(theirs, { principal: "bob", paths: [] });
 *
 * const empty = { status: undefined, artifacts: [], history: [], metadata: undefined };
 * await tasks.save({ id: "task-1", contextId: "context-1", ...empty }, mine);
 * (await tasks.load("task-1", mine))?.contextId; // => "context-1"
 * await tasks.load("task-1", theirs); // => undefined
 * tasks.close();
 * ```
 */
export async function openTaskStore(
  path: string,
  options: TaskStoreOptions = {},
): Promise<SqliteTaskStore> {
  const connect = await loadDriver(path);
  return new SqliteTaskStore(openOrCreate(connect, TASKS, path), options);
}

/**
 * Tasks in a file. Each belongs to the principal and the capabilities that it was first saved with,
 * as {@link setTaskAccess} told them, and is there only for requests with these capabilities, or with
 * ones they were narrowed from; to all others it is as if there were none. Made by
 * {@link openTaskStore}.
 *
 * What was saved survives the end of this process, however it comes; a crash of the whole system may
 * lose the last changes, and never more.
 */
export class SqliteTaskStore implements TaskStore {
  /** The file, as it was named. */
  readonly path: string;
  /** Where callers want to be told of their tasks' progress: in the same file, as visible. */
  readonly pushConfigs: SqlitePushConfigs;
  /** Absent once the store is closed. */
  #file: SqliteFile | undefined;
  readonly #tables: TaskTables;
  readonly #onProblem: (error: StorageError) => void;
  readonly #clock: () => number;

  /** @internal Use {@link openTaskStore}. */
  constructor(file: SqliteFile, options: TaskStoreOptions) {
    this.path = file.name;
    this.#file = file;
    this.#tables = new TaskTables(file);
    this.#onProblem = options.onProblem ?? (() => {});
    this.#clock = options.clock ?? Date.now;
    this.pushConfigs = new SqlitePushConfigs(this.#tables, {
      read: (action) => this.#read(action),
      write: (action) => this.#write(action),
      clock: this.#clock,
    });
  }

  /**
   * Saves a task; one that is there stays its maker's.
   *
   * @throws TypeError if the task has no id, or {@link setTaskAccess} was not called.
   * @throws TaskNotFoundError if there is a task of this id that the request may not see.
   * @throws A2AError if it could not be written; its cause is a StorageError.
   */
  async save(task: Task, context: ServerCallContext): Promise<void> {
    const viewer = viewerOf(context);
    if (task.id === "") throw new TypeError("a task must have an id");
    const { artifacts, ...rest } = task;
    const id = JSON.stringify(task.id);
    const values = [
      JSON.stringify(task.contextId),
      task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED,
      timeOf(task.status?.timestamp) ?? NEVER,
      this.#clock(),
      JSON.stringify(Task.toJSON({ ...rest, artifacts: [] })),
      JSON.stringify(Task.toJSON({ ...NOTHING, artifacts })),
    ];
    const tables = this.#tables;
    const saved = this.#write(() => {
      const [row] = tables.rows("SELECT access FROM task WHERE id = ?", id);
      if (row === undefined) {
        const sql = `INSERT INTO task (id, access, context, state, updated, saved, body, artifacts)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
        tables.run(sql, id, tables.put(viewer), ...values);
        return true;
      }
      if (!tables.visible(tables.number(row, "access"), viewer)) return false;
      const sql = `UPDATE task SET context = ?, state = ?, updated = ?, saved = ?, body = ?,
        artifacts = ? WHERE id = ?`;
      tables.run(sql, ...values, id);
      return true;
    });
    if (!saved) throw new TaskNotFoundError(`Task not found: ${task.id}`);
  }

  /**
   * A task, if the request may see it.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws A2AError if it could not be read; its cause is a StorageError.
   */
  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const viewer = viewerOf(context);
    const tables = this.#tables;
    return this.#read(() => {
      const sql = "SELECT access, body, artifacts FROM task WHERE id = ?";
      const [row] = tables.rows(sql, JSON.stringify(taskId));
      if (row === undefined || !tables.visible(tables.number(row, "access"), viewer)) {
        return undefined;
      }
      return taskOf(tables, row, true);
    });
  }

  /**
   * Tasks that the request may see, latest status first, with the filters and pages of the protocol.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws RequestMalformedError if the page's size or token, or the time, is none.
   * @throws A2AError if they could not be read; its cause is a StorageError.
   */
  async list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const viewer = viewerOf(context);
    const page = pageOf(params);
    return this.#read(() => listTasks(this.#tables, page, viewer));
  }

  /**
   * Removes tasks that nothing has been saved to for a while, in whatever state they are, and push
   * configurations that are left without a task.
   *
   * @param before - Milliseconds since 1970: since when.
   * @returns How many tasks were removed.
   * @throws StorageError if they could not be.
   */
  prune(before: number): number {
    const tables = this.#tables;
    return this.#open().write({ durable: false }, () => {
      const removed = tables.run("DELETE FROM task WHERE saved < ?", before);
      const orphans = "saved < ? AND task NOT IN (SELECT id FROM task)";
      tables.run(`DELETE FROM push WHERE ${orphans}`, before);
      tables.pruneAccesses();
      return removed;
    });
  }

  /**
   * Marks tasks that were under way as failed: for an agent that starts, and is the only one that runs
   * tasks of this file.
   *
   * @returns How many there were.
   * @throws StorageError if they could not be written.
   */
  failInterrupted(): number {
    const tables = this.#tables;
    const timestamp = new Date(this.#clock()).toISOString();
    return this.#open().write({ durable: false }, () => {
      const sql = "SELECT id, body FROM task WHERE state IN (?, ?)";
      const rows = tables.rows(sql, TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING);
      for (const row of rows) {
        const status = { state: TaskState.TASK_STATE_FAILED, message: undefined, timestamp };
        const task = { ...Task.fromJSON(tables.json(row, "body")), status };
        tables.run(
          "UPDATE task SET state = ?, updated = ?, body = ? WHERE id = ?",
          TaskState.TASK_STATE_FAILED,
          Date.parse(timestamp),
          JSON.stringify(Task.toJSON(task)),
          tables.text(row, "id"),
        );
      }
      return rows.length;
    });
  }

  /** Lets go of the file. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): SqliteFile {
    if (this.#file === undefined) throw new TypeError("the task store is closed");
    return this.#file;
  }

  #write<T>(action: () => T): T {
    return this.#read(() => this.#open().write({ durable: false }, action));
  }

  #read<T>(action: () => T): T {
    this.#open();
    try {
      return action();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#onProblem(error);
      // The error's own message has the path of the file, which is not for callers.
      throw new A2AError({ message: "the agent can not reach its tasks now", cause: error });
    }
  }
}

const NOTHING: Task = {
  id: "",
  contextId: "",
  status: undefined,
  artifacts: [],
  history: [],
  metadata: undefined,
};
