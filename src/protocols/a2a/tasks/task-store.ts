import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { TaskStore as SdkTaskStore, ServerCallContext } from "@a2a-js/sdk/server";
import type { Selectable } from "kysely";
import type { Caller } from "../../../agent/caller.js";
import { assertMembers } from "../../../checks/members.js";
import type { StorageError } from "../../../storage/storage-error.js";
import { type StoreDatabase, type StoreTables, tablesOf } from "../../../stores/database.js";
import { textOf } from "../../../stores/stored-values.js";
import { partyOf, type Viewer, viewerOf } from "./access-rows.js";
import { Lease } from "./lease.js";
import { type Earlier, earlierOf, keptMessage, type TaskMessage } from "./messages.js";
import { pruneTasks } from "./pruning.js";
import { PushConfigs } from "./push-configs.js";
import type { TaskQuota } from "./quota.js";
import type { Asker } from "./task-access.js";
import type { TaskWatch } from "./task-changes.js";
import { TaskDatabase } from "./task-database.js";
import { listTasks } from "./task-list.js";
import { goesOn, rowOf, type TaskRow, taskOf, usesIn } from "./task-rows.js";
import { type Beginning, TaskWriting } from "./task-writing.js";

export type { Earlier, TaskMessage } from "./messages.js";
export type { Beginning } from "./task-writing.js";

/** How tasks are kept. */
export interface TaskStoreOptions {
  /** Called when the database cannot be read or written: callers only learn that it does not work. */
  readonly onProblem?: (error: StorageError) => void;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
  /** What is kept for one principal at most. */
  readonly quota?: Partial<TaskQuota>;
  /**
   * Milliseconds after which this instance counts as gone when it no longer renews its lease, and other
   * instances fail its tasks; 15,000 unless given.
   */
  readonly lease?: number;
}

const OPTIONS = ["onProblem", "clock", "quota", "lease"];

/**
 * Keeps tasks and push configurations in a database of the stores, which the caller closes after the
 * task store. Tasks that instances of the agent which are gone have left under way have failed then.
 *
 * @throws TypeError if a quota or the lease is not a whole number.
 * @throws StorageError
 */
export async function openTaskStore(
  database: StoreDatabase,
  options: TaskStoreOptions = {},
): Promise<TaskStore> {
  assertMembers(options, OPTIONS, "options");
  const { onProblem = () => {}, clock = Date.now, quota = {}, lease: length } = options;
  const tasks = new TaskDatabase(tablesOf(database), clock, onProblem, quota);
  const lease = new Lease(tasks, length);
  await lease.start();
  return new TaskStore(tasks, lease);
}

/**
 * Tasks in a database. Each belongs to the principal and the capabilities that it was first saved
 * with, as {@link setTaskAccess} set them, and is there only for requests with these capabilities, or
 * with ones they were attenuated from; to all others it is as if there were none. Made by
 * {@link openTaskStore}.
 */
export class TaskStore implements SdkTaskStore {
  /** Where callers want notifications of their tasks' progress: in the same database, as visible. */
  readonly pushConfigs: PushConfigs;
  readonly #tasks: TaskDatabase;
  readonly #lease: Lease;
  readonly #writing: TaskWriting;

  /** @internal Use {@link openTaskStore}. */
  constructor(tasks: TaskDatabase, lease: Lease) {
    this.#tasks = tasks;
    this.#lease = lease;
    this.#writing = new TaskWriting(tasks, lease.id);
    this.pushConfigs = new PushConfigs(tasks);
  }

  /**
   * Saves a task before anything runs in it, with the message that asks for it: of several with the
   * same message, in whatever processes, one begins. Fulfilled once it is on the disk. The task is not changed in
   * place afterwards: its history and metadata are compared by identity when it ends.
   *
   * @throws TypeError if the task has no id, or {@link setTaskAccess} was not called.
   * @throws TaskNotFoundError if there is a task of this id that the request may not see.
   * @throws UnsupportedOperationError if something runs in the task, or it has ended.
   * @throws TaskQuotaError if the principal has as much as is kept for it.
   * @throws A2AError if it could not be written; its cause is a StorageError. Nothing may run then.
   */
  async begin(task: Task, message: TaskMessage, asker: Asker): Promise<Beginning> {
    return this.#writing.begin(task, message, asker);
  }

  /**
   * What a message has begun before, if one of the same id came from the same party.
   *
   * @throws A2AError if it could not be read; its cause is a StorageError.
   */
  async begunBy(message: TaskMessage): Promise<Earlier | undefined> {
    return this.#tasks.read((db) => earlierOf(db, keptMessage(message), this.#tasks));
  }

  /**
   * Saves what a task has come to, unless it has ended meanwhile, such as by being cancelled.
   *
   * @returns Whether it was saved.
   * @throws As {@link TaskStore.save} does.
   */
  async end(task: Task, asker: Asker): Promise<boolean> {
    return this.#writing.end(task, asker);
  }

  /**
   * Saves a task; one that is there stays its maker's. Fulfilled once it is on the disk.
   *
   * @throws TypeError if the task has no id, or {@link setTaskAccess} was not called.
   * @throws TaskNotFoundError if there is a task of this id that the request may not see.
   * @throws TaskQuotaError if the principal has as much as is kept for it; not while the task runs.
   * @throws A2AError if it could not be written; its cause is a StorageError.
   */
  async save(task: Task, context: ServerCallContext): Promise<void> {
    await this.#writing.save(task, context);
  }

  /**
   * Watches a task, which may be changed by any process that has the database open.
   *
   * @internal
   */
  watch(taskId: string): TaskWatch {
    return this.#tasks.changes.watch(taskId);
  }

  /** Fails a task as soon as it can be written: what it came to could not be. */
  failLater(taskId: string, why: string): void {
    this.#lease.failLater(taskId, why);
  }

  /**
   * A task, if the request may see it; one that has ended also if its party made it and presents
   * capabilities that cover what it was done with.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws A2AError if it could not be read; its cause is a StorageError.
   */
  async load(taskId: string, asker: Asker): Promise<Task | undefined> {
    const viewer = viewerOf(asker);
    return this.#tasks.read(async (db) => {
      const row = await rowOf(db, taskId);
      if (row === undefined) return undefined;
      const visible = await this.#tasks.visible(db, row.access, viewer);
      if (!visible && !(await this.#covered(row, viewer))) return undefined;
      return this.#tasks.readStored(() => taskOf(row));
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
    return this.#tasks.read((db) => listTasks(db, params, viewer, this.#tasks));
  }

  /**
   * The tasks that wait for something outside, made with a path that has this id; with the party that made
   * each.
   *
   * @throws A2AError if they could not be read; its cause is a StorageError.
   */
  async waitingUnder(id: string): Promise<readonly WaitingTask[]> {
    return this.#tasks.read(async (db) => {
      const rows = await db
        .selectFrom("task")
        .select(["id", "party"])
        .where("access", "in", (of) =>
          of.selectFrom("link").select("access").where("link.id", "=", JSON.stringify(id)),
        )
        .where("state", "=", TaskState.TASK_STATE_AUTH_REQUIRED)
        .execute();
      return this.#tasks.readStored(() => rows.flatMap(waitingTaskOf));
    });
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
    return pruneTasks(this.#tasks.database, before);
  }

  /**
   * Fails what is still under way here, and gives up the lease of this instance. To be called before
   * the database is closed. Never throws: what cannot be written is reported.
   */
  async close(): Promise<void> {
    await this.#lease.stop();
  }

  /** Whether the party that made a task presents what covers it, now that the task has ended. */
  async #covered(row: TaskRow, viewer: Viewer): Promise<boolean> {
    const party = partyOf(viewer);
    const { covers } = viewer.access;
    if (goesOn(row.state) || covers === undefined || party === null || row.party !== party) {
      return false;
    }
    const uses = this.#tasks.readStored(() => usesIn(row));
    for (const use of uses) if (!(await covers(use))) return false;
    return uses.length > 0;
  }
}

/** A task that waits, and the party that made it. */
export interface WaitingTask extends Caller {
  readonly id: string;
}

function waitingTaskOf({ id, party }: Pick<Selectable<StoreTables["task"]>, "id" | "party">) {
  const [, principal, invoker]: readonly unknown[] = party === null ? [] : listOf(party);
  if (typeof principal !== "string" || typeof invoker !== "string") return [];
  return [{ id: textOf(id), principal, invoker }];
}

/** @throws TypeError or SyntaxError if it is no list. */
function listOf(text: string): readonly unknown[] {
  const list: unknown = JSON.parse(text);
  if (Array.isArray(list)) return list;
  throw new TypeError("this is no list");
}
