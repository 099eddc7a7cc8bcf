import { randomUUID } from "node:crypto";
import { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type {
  PushNotificationStore,
  ServerCallContext,
  StoredPushNotificationConfig,
} from "@a2a-js/sdk/server";
import type { StoreQueries } from "../../../stores/database.js";
import { textOf } from "../../../stores/stored-values.js";
import { putAccess, type Viewer, viewerOf } from "./access-rows.js";
import type { TaskDatabase } from "./task-database.js";

const MAX_CONFIGS = 8;
const MAX_CHARACTERS = 8192;
const OLDEST_VERSION = "0.3";

/**
 * Push configurations, stored beside their tasks. A request that may see a task may add configurations to it.
 * Configurations may contain credentials. So `load`, which answers callers, returns only configurations that
 * were saved with the caller's capabilities, or with capabilities narrowed from these. `loadWithMetadata`,
 * which the push sender uses, returns all configurations of a task.
 */
export class PushConfigs implements PushNotificationStore {
  readonly #tasks: TaskDatabase;

  /** @internal Use {@link openTaskStore}. */
  constructor(tasks: TaskDatabase) {
    this.#tasks = tasks;
  }

  /**
   * Saves a configuration, with a new id if it has none.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws TaskNotFoundError if the task exists, but the request may not see it.
   * @throws RequestMalformedError if the configuration is too large, the task has too many configurations, or
   *   the task has a configuration with this id that the request may not read.
   * @throws TaskQuotaError if the principal has reached its quota.
   * @throws A2AError, whose `cause` is a StorageError, if the write fails.
   */
  async save(
    taskId: string,
    context: ServerCallContext,
    config: TaskPushNotificationConfig,
  ): Promise<void> {
    const viewer = viewerOf(context);
    if (config.id === "") config.id = randomUUID();
    const [task, id] = [JSON.stringify(taskId), JSON.stringify(config.id)];
    const body = JSON.stringify(TaskPushNotificationConfig.toJSON(config));
    if (body.length > MAX_CHARACTERS) {
      throw new RequestMalformedError(
        `a push configuration has at most ${MAX_CHARACTERS} characters of JSON`,
      );
    }
    const version = JSON.stringify(context.requestedVersion || OLDEST_VERSION);
    const { clock, quota } = this.#tasks;
    await this.#tasks.write(async (db) => {
      if ((await this.#task(db, task, viewer)) === "hidden") {
        throw new TaskNotFoundError(`Task not found: ${taskId}`);
      }
      const configs = await db
        .selectFrom("push")
        .select(["id", "access", "bytes"])
        .where("task", "=", task)
        .execute();
      const known = configs.find((one) => one.id === id);
      if (known !== undefined && !(await this.#tasks.visible(db, known.access, viewer))) {
        throw new RequestMalformedError("another configuration of the task has this id");
      }
      if (known === undefined && configs.length >= MAX_CONFIGS) {
        throw new RequestMalformedError(`a task has at most ${MAX_CONFIGS} push configurations`);
      }
      const bytes = Buffer.byteLength(body);
      const principal = JSON.stringify(viewer.access.principal);
      // A configuration keeps the access with which it was first saved.
      const { seq: access, written } =
        known === undefined
          ? await putAccess(db, viewer, clock())
          : { seq: known.access, written: 0 };
      const more = { tasks: 0, bytes: bytes - (known?.bytes ?? 0) };
      await quota.assertRoom(db, principal, more, written);
      const values = { saved: clock(), bytes, version, body };
      await db
        .insertInto("push")
        .values({ task, id, access, principal, ...values })
        .onConflict((conflict) => conflict.columns(["task", "id"]).doUpdateSet(values))
        .execute();
    });
  }

  /** Returns a task's configurations, as far as the request may read them. */
  async load(taskId: string, context: ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    const configs = await this.#read(taskId, context, "own");
    return configs.map(({ config }) => config);
  }

  /** Returns all configurations of a task. Only the push sender may call this method. */
  async loadWithMetadata(
    taskId: string,
    context: ServerCallContext,
  ): Promise<StoredPushNotificationConfig[]> {
    return this.#read(taskId, context, "all");
  }

  /** Deletes a configuration, if the request may read it. */
  async delete(
    taskId: string,
    context: ServerCallContext,
    configId: string = taskId,
  ): Promise<void> {
    const viewer = viewerOf(context);
    await this.#tasks.write(async (db) => {
      const own = await this.#shown(db, taskId, viewer, "own");
      const config = own.find(({ id }) => id === JSON.stringify(configId));
      if (config !== undefined) {
        await db.deleteFrom("push").where("seq", "=", config.seq).execute();
      }
    });
  }

  async #read(
    taskId: string,
    context: ServerCallContext,
    which: "own" | "all",
  ): Promise<StoredPushNotificationConfig[]> {
    const viewer = viewerOf(context);
    return this.#tasks.read(async (db) => {
      const rows = await this.#shown(db, taskId, viewer, which);
      return rows.map(({ version, body }) =>
        this.#tasks.readStored(() => ({
          config: TaskPushNotificationConfig.fromJSON(JSON.parse(body)),
          wireVersion: textOf(version),
        })),
      );
    });
  }

  /**
   * Selects configurations of a task. `own`: those that the viewer may read. `all`: every configuration if the
   * viewer may see the task, and as `own` if the task does not exist. Returns none if the task is hidden from
   * the viewer.
   */
  async #shown(db: StoreQueries, taskId: string, viewer: Viewer, which: "own" | "all") {
    const task = JSON.stringify(taskId);
    const found = await this.#task(db, task, viewer);
    if (found === "hidden") return [];
    const rows = await db
      .selectFrom("push")
      .select(["seq", "id", "access", "version", "body"])
      .where("task", "=", task)
      .orderBy("seq")
      .execute();
    if (which === "all" && found === "visible") return rows;
    const own: typeof rows = [];
    for (const row of rows) {
      if (await this.#tasks.visible(db, row.access, viewer)) own.push(row);
    }
    return own;
  }

  /**
   * Returns whether a task exists and is visible to a viewer. A task can be absent, because its push
   * configuration may be saved before the task.
   */
  async #task(
    db: StoreQueries,
    id: string,
    viewer: Viewer,
  ): Promise<"visible" | "hidden" | "absent"> {
    const row = await db
      .selectFrom("task")
      .select("access")
      .where("id", "=", id)
      .executeTakeFirst();
    if (row === undefined) return "absent";
    return (await this.#tasks.visible(db, row.access, viewer)) ? "visible" : "hidden";
  }
}
