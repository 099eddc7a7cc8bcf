import { A2AError } from "@a2a-js/sdk/errors";
import type { Kysely } from "kysely";
import type { Write } from "../../storage/group-commit.js";
import { StorageError } from "../../storage/storage-error.js";
import type { StoreDatabase, StoreTables } from "../database.js";
import { Accesses } from "./accesses.js";
import { Quota, type TaskQuota } from "./quota.js";
import { Stored } from "./stored.js";

/** The database as tasks and push configurations use it. */
export class Tasks {
  readonly database: StoreDatabase;
  readonly stored: Stored;
  readonly accesses: Accesses;
  readonly quota: Quota;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly #onProblem: (error: StorageError) => void;

  constructor(
    database: StoreDatabase,
    clock: () => number,
    onProblem: (error: StorageError) => void,
    quota: Partial<TaskQuota>,
  ) {
    this.database = database;
    this.stored = new Stored(database.name);
    this.accesses = new Accesses(this.stored);
    this.quota = new Quota(quota, this.stored);
    this.clock = clock;
    this.#onProblem = onProblem;
  }

  read<T>(action: (db: Kysely<StoreTables>) => Promise<T>): Promise<T> {
    return this.#attempt(() => this.database.read(action));
  }

  write<T>(action: Write<StoreTables, T>): Promise<T> {
    return this.#attempt(() => this.database.write(action));
  }

  /** Reports what is wrong with the database to its operator. */
  report(error: unknown): void {
    if (error instanceof StorageError) this.#onProblem(error);
  }

  /** @throws A2AError in the place of a StorageError, whose message has a path that is not for callers. */
  async #attempt<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.report(error);
      throw new A2AError({ message: "the agent cannot reach its tasks now", cause: error });
    }
  }
}
