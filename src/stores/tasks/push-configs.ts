import { randomUUID } from "node:crypto";
import { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type {
  PushNotificationStore,
  ServerCallContext,
  StoredPushNotificationConfig,
} from "@a2a-js/sdk/server";
import { type TaskTables, type Viewer, viewerOf } from "./task-tables.js";

/** What push configurations share with the tasks that they are of. */
export interface SharedFile {
  readonly read: <T>(action: () => T) => T;
  readonly write: <T>(action: () => T) => T;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

const MOST_CONFIGS = 8;
const OLDEST_VERSION = "0.3";

/**
 * Push configurations in the file of a task store, where `pushConfigs` is one of these. Who may see a
 * task may add to its configurations. They may hold credentials, so that `load`, by which callers get
 * them, gives only those that were saved with the caller's own capabilities, or with ones narrowed
 * from these; `loadWithMetadata`, by which the SDK's sender gets them, gives all of a task.
 */
export class SqlitePushConfigs implements PushNotificationStore {
  readonly #tables: TaskTables;
  readonly #shared: SharedFile;

  /** @internal */
  constructor(tables: TaskTables, shared: SharedFile) {
    this.#tables = tables;
    this.#shared = shared;
  }

  /**
   * Saves a configuration; gives it an id if it has none.
   *
   * @throws TypeError if {@link setTaskAccess} was not called.
   * @throws TaskNotFoundError if there is a task of this id that the request may not see.
   * @throws RequestMalformedError if someone else's configuration of the task has this id.
   * @throws A2AError if it could not be written; its cause is a StorageError.
   */
  async save(
    taskId: string,
    context: ServerCallContext,
    config: TaskPushNotificationConfig,
  ): Promise<void> {
    const viewer = viewerOf(context);
    if (config.id === "") config.id = randomUUID();
    const tables = this.#tables;
    const [task, id] = [JSON.stringify(taskId), JSON.stringify(config.id)];
    const body = JSON.stringify(TaskPushNotificationConfig.toJSON(config));
    const version = JSON.stringify(context.requestedVersion || OLDEST_VERSION);
    const now = this.#shared.clock();
    const problem = this.#shared.write(() => {
      if (this.#task(task, viewer) === "hidden") return "hidden";
      const [known] = tables.rows("SELECT access FROM push WHERE task = ? AND id = ?", task, id);
      if (known !== undefined && !tables.visible(tables.number(known, "access"), viewer)) {
        return "taken";
      }
      const [count] = tables.rows("SELECT count(*) AS total FROM push WHERE task = ?", task);
      if (known === undefined && tables.number(count, "total") >= MOST_CONFIGS) return "full";
      const sql = `INSERT INTO push (task, id, access, saved, version, body)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (task, id) DO UPDATE SET
        saved = excluded.saved, version = excluded.version, body = excluded.body`;
      tables.run(sql, task, id, tables.put(viewer), now, version, body);
      return undefined;
    });
    if (problem === "hidden") throw new TaskNotFoundError(`Task not found: ${taskId}`);
    if (problem === "full") {
      throw new RequestMalformedError(`a task has at most ${MOST_CONFIGS} push configurations`);
    }
    if (problem === "taken") {
      throw new RequestMalformedError("another configuration of the task has this id");
    }
  }

  /** Those of a task's configurations that the request may read. */
  async load(taskId: string, context: ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    const viewer = viewerOf(context);
    return this.#shared.read(() => {
      const task = JSON.stringify(taskId);
      if (this.#task(task, viewer) === "hidden") return [];
      return this.#configs(task)
        .filter(({ access }) => this.#tables.visible(access, viewer))
        .map(({ config }) => config);
    });
  }

  /** All of a task's configurations, to send to: not for callers' eyes. */
  async loadWithMetadata(
    taskId: string,
    context: ServerCallContext,
  ): Promise<StoredPushNotificationConfig[]> {
    const viewer = viewerOf(context);
    return this.#shared.read(() => {
      const task = JSON.stringify(taskId);
      const found = this.#task(task, viewer);
      if (found === "hidden") return [];
      return this.#configs(task)
        .filter(({ access }) => found === "visible" || this.#tables.visible(access, viewer))
        .map(({ config, wireVersion }) => ({ config, wireVersion }));
    });
  }

  /** Deletes a configuration, if the request may read it. */
  async delete(
    taskId: string,
    context: ServerCallContext,
    configId: string = taskId,
  ): Promise<void> {
    const viewer = viewerOf(context);
    const tables = this.#tables;
    const [task, id] = [JSON.stringify(taskId), JSON.stringify(configId)];
    this.#shared.write(() => {
      if (this.#task(task, viewer) === "hidden") return;
      const [row] = tables.rows("SELECT access FROM push WHERE task = ? AND id = ?", task, id);
      if (row === undefined || !tables.visible(tables.number(row, "access"), viewer)) return;
      tables.run("DELETE FROM push WHERE task = ? AND id = ?", task, id);
    });
  }

  /** What a task is to a viewer. A configuration may be saved just before its task first is. */
  #task(id: string, viewer: Viewer): "visible" | "hidden" | "absent" {
    const [row] = this.#tables.rows("SELECT access FROM task WHERE id = ?", id);
    if (row === undefined) return "absent";
    return this.#tables.visible(this.#tables.number(row, "access"), viewer) ? "visible" : "hidden";
  }

  #configs(
    task: string,
  ): { access: number; wireVersion: string; config: TaskPushNotificationConfig }[] {
    const tables = this.#tables;
    const sql = "SELECT access, version, body FROM push WHERE task = ? ORDER BY seq";
    return tables.rows(sql, task).map((row) => ({
      access: tables.number(row, "access"),
      wireVersion: String(tables.json(row, "version")),
      config: TaskPushNotificationConfig.fromJSON(tables.json(row, "body")),
    }));
  }
}
