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

/** Options of a task store. */
export interface TaskStoreOptions {
  /** Called with the error if the database cannot be read or written. Callers learn only that something failed. */
  readonly onProblem?: (error: StorageError) => void;
  /** Returns milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
  /** Limits for one principal. */
  readonly quota?: Partial<TaskQuota>;
  /**
   * Milliseconds without a renewal after which this instance counts as gone, and other instances fail its
   * tasks; 15,000 unless given.
   */
  readonly lease?: number;
}

const OPTIONS = ["onProblem", "clock", "quota", "lease"];

/**
 * Opens a store of tasks and push configurations in a database. Fails tasks that were running in instances that
 * are gone. Close the store before the database.
 *
 * @throws TypeError if an option is invalid.
 * @throws StorageError if the database cannot be read or written.
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
 * Tasks in a database, as {@link openTaskStore} returns them. A task belongs to the principal and the
 * capabilities with which it was first saved, as set by {@link setTaskAccess}. A request can see the task only
 * if it presents these capabilities, or the capabilities from which they were narrowed. For every other
 * request, the task does not exist.
 */
export class TaskStore implements SdkTaskStore {
  /** The push configurations of tasks, in the same database and with the same visibility. */
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
   * Saves a task before anything runs in it, together with the message that requests the task. If the same
   * message arrives several times, even in different processes, only one copy starts the task. Resolves once
   * the task is durable. Do not modify the task object afterwards: `end` compares its history and metadata by
   * identity.
   *
   * @throws TypeError if the task has no id, or {@link setTaskAccess} was not called.
   * @throws TaskNotFoundError if the task exists, but the request may not see it.
   * @throws UnsupportedOperationError if the task is running or has ended.
   * @throws TaskQuotaError if the principal has reached its quota.
   * @throws A2AError, whose `cause` is a StorageError, if the write fails. Nothing may run in the task then.
   */
  async begin(task: Task, message: TaskMessage, asker: Asker): Promise<Beginning> {
    return this.#writing.begin(task, message, asker);
  }

  /**
   * Returns the task started by an earlier message with the same id from the same party; `undefined` if there
   * is none.
   *
   * @throws A2AError, whose `cause` is a StorageError, if the read fails.
   */
  async begunBy(message: TaskMessage): Promise<Earlier | undefined> {
    return this.#tasks.read((db) => earlierOf(db, keptMessage(message), this.#tasks));
  }

  /**
   * Saves the outcome of a task, unless the task has ended meanwhile, for example by cancellation.
   *
   * @returns `true` if the outcome was saved.
   * @throws The same errors as {@link TaskStore.save}.
   */
  async end(task: Task, asker: Asker): Promise<boolean> {
    return this.#writing.end(task, asker);
  }

  /**
   * Saves a task; an existing task keeps its maker. Resolves once the task is durable.
   *
   * @throws TypeError if the task has no id, or {@link setTaskAccess} was not called.
   * @throws TaskNotFoundError if the task exists, but the request may not see it.
   * @throws TaskQuotaError if the principal has reached its quota; never for a running task.
   * @throws A2AError, whose `cause` is a StorageError, if the write fails.
   */
  async save(task: Task, context: ServerCallContext): Promise<void> {
    await this.#writing.save(task, context);
  }

  /**
   * Watches a task, which any process with the database may change.
   *
   * @internal
   */
  watch(taskId: string): TaskWatch {
    return this.#tasks.changes.watch(taskId);
  }

  /** Fails a task whose outcome could not be written, as soon as the database can be written. */
  failLater(taskId: string, why: string): void {
    this.#lease.failLater(taskId, why);
  }

  /**
   * Returns a task if the request may see it. The party that made the task may also read it after its end, with
   * capabilities that cover the task's uses of authority.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws A2AError, whose `cause` is a StorageError, if the read fails.
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
   * Returns the tasks that the request may see, latest status first, with the filters and pages of the
   * protocol.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws RequestMalformedError if the page size, the page token or the time is invalid.
   * @throws A2AError, whose `cause` is a StorageError, if the read fails.
   */
  async list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const viewer = viewerOf(context);
    return this.#tasks.read((db) => listTasks(db, params, viewer, this.#tasks));
  }

  /**
   * Returns the tasks in the state `auth-required` that were made with a path containing `id`, each with its
   * party.
   *
   * @throws A2AError, whose `cause` is a StorageError, if the read fails.
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
   * Removes tasks in any state that were last saved before `before`, and push configurations whose task is gone.
   * Works in small transactions.
   *
   * @param before - Milliseconds since 1970.
   * @returns The number of tasks removed.
   * @throws StorageError if the removal fails.
   */
  async prune(before: number): Promise<number> {
    return pruneTasks(this.#tasks.database, before);
  }

  /**
   * Fails the running tasks of this instance, and gives up its lease. Call it before closing the database.
   * Never throws; reports database errors to `onProblem`.
   */
  async close(): Promise<void> {
    await this.#lease.stop();
  }

  /**
   * Returns whether a task has ended, and the viewer is its party and presents capabilities that cover all its
   * uses of authority.
   */
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

/** A waiting task, and the party that made it. */
export interface WaitingTask extends Caller {
  readonly id: string;
}

function waitingTaskOf({ id, party }: Pick<Selectable<StoreTables["task"]>, "id" | "party">) {
  const [, principal, invoker]: readonly unknown[] = party === null ? [] : listOf(party);
  if (typeof principal !== "string" || typeof invoker !== "string") return [];
  return [{ id: textOf(id), principal, invoker }];
}

/** @throws TypeError or SyntaxError if the string is not a JSON array. */
function listOf(text: string): readonly unknown[] {
  const list: unknown = JSON.parse(text);
  if (Array.isArray(list)) return list;
  throw new TypeError("this is not a list");
}
