import { A2AError } from "@a2a-js/sdk/errors";
import type { Write, WriteOptions } from "../../../storage/group-commit.js";
import { StorageError } from "../../../storage/storage-error.js";
import type { StoreQueries, StoreTables, TableDatabase } from "../../../stores/database.js";
import { corrupt, readStored } from "../../../stores/stored-values.js";
import { type Viewer, visibleTo } from "./access-rows.js";
import { Quota, type TaskQuota } from "./quota.js";
import { TaskChanges } from "./task-changes.js";

/** The database, with the functions that tasks and push configurations share. */
export class TaskDatabase {
  readonly database: TableDatabase;
  readonly quota: Quota;
  readonly changes: TaskChanges;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  readonly #onProblem: (error: StorageError) => void;

  constructor(
    database: TableDatabase,
    clock: () => number,
    onProblem: (error: StorageError) => void,
    quota: Partial<TaskQuota>,
  ) {
    this.database = database;
    this.quota = new Quota(quota);
    this.changes = new TaskChanges(database);
    this.clock = clock;
    this.#onProblem = onProblem;
  }

  read<T>(action: (db: StoreQueries) => Promise<T>): Promise<T> {
    return this.#attempt(() => this.database.read(action));
  }

  write<T>(action: Write<StoreTables, T>, options: WriteOptions = {}): Promise<T> {
    return this.#attempt(() => this.database.write(action, options));
  }

  /** @throws StorageError `store_corrupt` if the stored data is damaged. */
  readStored<T>(read: () => T): T {
    return readStored(this.database.name, "a task", read);
  }

  /**
   * Returns whether a viewer may see the objects that belong to the access with the number `seq`.
   *
   * @throws StorageError `store_corrupt` if the access does not exist.
   */
  async visible(db: StoreQueries, seq: number, viewer: Viewer): Promise<boolean> {
    const shown = await visibleTo(db, viewer).where("access.seq", "=", seq).executeTakeFirst();
    if (shown !== undefined) return true;
    const known = await db
      .selectFrom("access")
      .select("seq")
      .where("seq", "=", seq)
      .executeTakeFirst();
    if (known !== undefined) return false;
    throw corrupt(this.database.name, "a task in it has no access");
  }

  /** Reports a database error to the operator. */
  report(error: unknown): void {
    if (error instanceof StorageError) this.#onProblem(error);
  }

  /**
   * Runs a database action.
   *
   * @throws A2AError in place of a StorageError, whose message contains a path that callers must not see.
   */
  async #attempt<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.report(error);
      this.quota.forget();
      throw new A2AError({ message: "the agent cannot reach its tasks now", cause: error });
    }
  }
}
