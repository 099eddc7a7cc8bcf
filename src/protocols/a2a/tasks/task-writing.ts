import type { Task } from "@a2a-js/sdk";
import { TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { StoreQueries } from "../../../stores/database.js";
import { accessKey, DAY, partyOf, putAccess, type Viewer, viewerOf } from "./access-rows.js";
import { type Earlier, keepMessage, keptMessage, keysIn, type TaskMessage } from "./messages.js";
import type { Asker } from "./task-access.js";
import type { TaskDatabase } from "./task-database.js";
import {
  columnsOf,
  endTask,
  goesOn,
  insertTask,
  isRunning,
  isWaiting,
  type NewTask,
  rowOf,
  type StableText,
  stableTextOf,
  type TaskColumns,
  usesIn,
  usesText,
} from "./task-rows.js";

/**
 * The result of starting a task. If an earlier copy of the message started a task, `begun` is false and that
 * task is named.
 */
export type Beginning = { readonly begun: true } | ({ readonly begun: false } & Earlier);

/** The start of a task by a request. */
interface Begun {
  readonly stable: StableText;
  readonly bytes: number;
  /** The uses of authority when the task started. */
  readonly with: Viewer["uses"];
  readonly uses: string;
}

/** Options for writing a task. */
interface Putting {
  /** Returns whether an existing task in this state may be overwritten. Unless given, the state does not matter. */
  readonly may?: (state: number) => boolean;
  /** True to write the task's outcome. */
  readonly isEnd?: boolean;
  /** The columns of the task's row, if known. */
  readonly fields?: TaskColumns;
  /** The key of the message that starts work in the task. */
  readonly message?: string;
}

/** Writes the tasks of requests, and checks that the state of an existing task allows the write. */
export class TaskWriting {
  readonly #tasks: TaskDatabase;
  /** The id of this server instance. */
  readonly #instance: string;
  /** The start of the task that a request has inserted. The request's `end` then needs no read. */
  readonly #begun = new WeakMap<Asker, Begun>();

  constructor(tasks: TaskDatabase, instance: string) {
    this.#tasks = tasks;
    this.#instance = instance;
  }

  async begin(task: Task, message: TaskMessage, asker: Asker): Promise<Beginning> {
    const viewer = viewerOf(asker);
    const stable = stableTextOf(task);
    const fields = columnsOf(task, stable);
    const kept = keptMessage(message);
    const putting = { may: isWaiting, fields, message: kept.key };
    const beginning = await this.#tasks.write(async (db) => {
      const earlier = await keepMessage(db, kept, task.id, this.#tasks);
      if (earlier !== undefined) return { begun: false, ...earlier } as const;
      const isNew = await this.#insert(db, task, viewer, putting);
      const state = isNew ? undefined : await this.#put(db, task, viewer, putting);
      if (state === undefined || isWaiting(state)) return { begun: true, state } as const;
      throw new UnsupportedOperationError(
        `Task ${task.id} ${isRunning(state) ? "is under way" : "has ended"} and takes no further message`,
      );
    });
    if (!beginning.begun) return beginning;
    this.#tasks.changes.note(task.id);
    if (beginning.state === undefined) {
      const { uses } = viewer;
      this.#begun.set(asker, { stable, bytes: fields.bytes, with: uses, uses: usesText(uses) });
    }
    return { begun: true };
  }

  async end(task: Task, asker: Asker): Promise<boolean> {
    const viewer = viewerOf(asker);
    const begun = this.#begun.get(asker);
    const fields = columnsOf(task, stableTextOf(task, begun?.stable));
    const ended = await this.#tasks.write(async (db) => {
      if (await this.#endBegun(db, task, viewer, fields, begun)) return true;
      if ((await rowOf(db, task.id)) === undefined) return false;
      const state = await this.#put(db, task, viewer, { may: goesOn, isEnd: true, fields });
      return state !== undefined && goesOn(state);
    });
    if (ended) this.#tasks.changes.note(task.id);
    return ended;
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    const viewer = viewerOf(context);
    const fields = columnsOf(task);
    await this.#tasks.write((db) => this.#put(db, task, viewer, { fields }));
    this.#tasks.changes.note(task.id);
  }

  /**
   * Inserts a task in one statement.
   *
   * @returns `true` if the task was inserted; `false` if the quota or an existing row must be read first.
   */
  async #insert(
    db: StoreQueries,
    task: Task,
    viewer: Viewer,
    { fields, message }: Required<Pick<Putting, "fields" | "message">>,
  ): Promise<boolean> {
    const { clock, quota } = this.#tasks;
    const principal = JSON.stringify(viewer.access.principal);
    if (task.id === "" || !quota.takes(principal, { tasks: 1, bytes: fields.bytes })) return false;
    return insertTask(db, this.#newRow(task, viewer, { fields, message }, clock()));
  }

  #newRow(
    { id }: Task,
    viewer: Viewer,
    { fields, message }: Required<Pick<Putting, "fields">> & Pick<Putting, "message">,
    now: number,
  ): NewTask {
    const { context, state, updated, bytes, body, artifacts } = fields;
    return {
      id: JSON.stringify(id),
      principal: JSON.stringify(viewer.access.principal),
      party: partyOf(viewer),
      uses: usesText(viewer.uses),
      context,
      state,
      updated,
      bytes,
      body,
      artifacts,
      saved: now,
      instance: isRunning(state) ? this.#instance : null,
      messages: message === undefined ? null : JSON.stringify([message]),
      key: accessKey(viewer),
      since: now - DAY,
    };
  }

  /**
   * Writes a task. Writes nothing if a task with this id exists and `may` is false for its state.
   *
   * @returns The previous state; `undefined` for a new task.
   */
  async #put(
    db: StoreQueries,
    task: Task,
    viewer: Viewer,
    { may = () => true, isEnd = false, fields = columnsOf(task), message }: Putting,
  ): Promise<number | undefined> {
    if (task.id === "") throw new TypeError("a task must have an id");
    const { clock, quota } = this.#tasks;
    const principal = JSON.stringify(viewer.access.principal);
    for (;;) {
      const known = await rowOf(db, task.id);
      if (known === undefined) {
        const now = clock();
        const { written } = await putAccess(db, viewer, now);
        await quota.assertRoom(db, principal, { tasks: 1, bytes: fields.bytes }, written);
        const row = this.#newRow(task, viewer, { fields, ...(message && { message }) }, now);
        if (await insertTask(db, row)) return undefined;
        continue;
      }
      if (!(await this.#tasks.visible(db, known.access, viewer))) {
        throw new TaskNotFoundError(`Task not found: ${task.id}`);
      }
      if (!may(known.state)) return known.state;
      const [before, keys] = this.#tasks.readStored(() => [usesIn(known), keysIn(known)] as const);
      const growth = fields.bytes - known.bytes;
      const free = isRunning(known.state) || isEnd;
      if (!free) await quota.assertRoom(db, principal, { tasks: 0, bytes: growth });
      const { numUpdatedRows: written } = await db
        .updateTable("task")
        .set({
          ...fields,
          uses: usesText([...before, ...viewer.uses]),
          saved: clock(),
          instance: isRunning(fields.state) ? this.#instance : null,
          ...(message === undefined ? {} : { messages: JSON.stringify([...keys, message]) }),
        })
        .where("seq", "=", known.seq)
        .where("state", "=", known.state)
        .executeTakeFirst();
      if (written > 0n) {
        if (free) quota.spent(principal, growth);
        return known.state;
      }
      // Another instance was faster. On PostgreSQL, both instances may have read the previous state.
    }
  }

  /**
   * Writes the outcome of a task that this request started in this process, in one statement.
   *
   * @returns `true` if the task was still running. If not, nothing is written.
   */
  async #endBegun(
    db: StoreQueries,
    task: Task,
    viewer: Viewer,
    { state, updated, bytes, body, artifacts }: TaskColumns,
    begun: Begun | undefined,
  ): Promise<boolean> {
    // A task that is still running must keep its instance, which `endTask` would remove.
    if (begun?.stable.id !== task.id || isRunning(state)) return false;
    const uses =
      viewer.uses === begun.with ? begun.uses : usesText([...begun.with, ...viewer.uses]);
    const [id, by] = [JSON.stringify(task.id), this.#instance];
    if (!(await endTask(db, { id, by, uses, state, updated, bytes, body, artifacts })))
      return false;
    this.#tasks.quota.spent(JSON.stringify(viewer.access.principal), bytes - begun.bytes);
    return true;
  }
}
