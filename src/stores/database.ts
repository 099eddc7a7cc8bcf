import { sql } from "kysely";
import { notA } from "../checks/kinds.js";
import type { DatabaseDialect } from "../storage/columns.js";
import { Database, type DatabaseOptions, openDatabase } from "../storage/database.js";
import type { Queries } from "../storage/engine.js";
import { makeTables, type RowsOf, type Schema } from "../storage/migrations.js";
import type { StorageErrorCode } from "../storage/storage-error.js";
import { LEDGER_TABLES } from "./tables/ledger.js";
import { MEMORY_TABLES } from "./tables/memory.js";
import { PARTY_TABLES } from "./tables/parties.js";
import { RESOURCE_NUMBER_TABLES } from "./tables/resource-numbers.js";
import { REVOCATION_TABLES } from "./tables/revocations.js";
import { TASK_TABLES } from "./tables/tasks.js";
import { TOOL_PIN_TABLES } from "./tables/tool-pins.js";

/** The tables of all stores, which share one database. */
export interface StoreTables
  extends RowsOf<typeof REVOCATION_TABLES>,
    RowsOf<typeof LEDGER_TABLES>,
    RowsOf<typeof TASK_TABLES>,
    RowsOf<typeof RESOURCE_NUMBER_TABLES>,
    RowsOf<typeof MEMORY_TABLES>,
    RowsOf<typeof PARTY_TABLES>,
    RowsOf<typeof TOOL_PIN_TABLES> {}

/**
 * A database with the tables of all stores, made by {@link createStores} or {@link openStores}. Pass it to the
 * stores, and close it after the stores.
 */
export interface StoreDatabase {
  /** The file as the caller named it, or the address without its password. */
  readonly name: string;
  readonly dialect: DatabaseDialect;
  readonly isClosed: boolean;
  /** Returns whether the disk has room for writes other than revocations. Never throws. */
  hasRoom(): Promise<boolean>;
  /**
   * Returns the code of the StorageError with which writes currently fail, such as `store_read_only` after a
   * failover; `undefined` if writes succeed. `store_full` means that the disk has just refused a write; {@link
   * StoreDatabase.hasRoom} warns before a write is refused.
   */
  problem(): Promise<StorageErrorCode | undefined>;
  /** Waits for pending writes and closes the database. */
  close(): Promise<void>;
}

/** The database with its methods for reading and writing. */
export type TableDatabase = Database<StoreTables>;

/** The queries of one read or write. */
export type StoreQueries = Queries<StoreTables>;

/**
 * Returns a database of the stores with its methods for reading and writing.
 *
 * @throws TypeError unless `createStores` or `openStores` has made the database.
 */
export function tablesOf(database: StoreDatabase): TableDatabase {
  if (database instanceof Database) return database;
  throw notA(
    "database",
    "a database of the stores, as createStores() or openStores() gives it",
    database,
  );
}

const SCHEMA: Schema = {
  /** The ASCII characters "prv1". */
  applicationId: 0x70727631,
  /** The `application_id`s of earlier formats: "prvs", "prvl", "prvt", "prvd" and "prve". */
  outdated: [0x70727673, 0x7072766c, 0x70727674, 0x70727664, 0x70727665],
  migrations: [
    async (step) => {
      await makeTables(step, REVOCATION_TABLES);
      await makeTables(step, LEDGER_TABLES);
      await makeTables(step, TASK_TABLES);
      await makeTables(step, RESOURCE_NUMBER_TABLES);
      await makeTables(step, MEMORY_TABLES);
      await makeTables(step, PARTY_TABLES);
      await makeTables(step, TOOL_PIN_TABLES);
      await step.run(sql`INSERT INTO revocation_state VALUES (1, 0, 0)`);
      await step.run(sql`CREATE INDEX task_instance ON task (instance) WHERE instance IS NOT NULL`);
    },
  ],
};

/**
 * Creates a database for the stores: a file with mode 0600, or the tables in an empty PostgreSQL database.
 *
 * @param place - A path, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
 * @throws TypeError if an option is wrong or the address is malformed.
 * @throws StorageError `store_exists` if the file exists, or one of the codes of {@link openStores}.
 */
export function createStores(place: string, options?: DatabaseOptions): Promise<StoreDatabase> {
  return openDatabase(place, SCHEMA, "new", options);
}

/**
 * Opens the database of the stores. Several processes may open it at the same time. A file can be shared on one machine
 * only, since SQLite's locks do not work over network file systems.
 *
 * @param ifMissing - The action if there is no file. In an empty PostgreSQL database, the tables are always
 *   created.
 * @throws TypeError if an option is wrong or the address is malformed.
 * @throws StorageError `store_missing`, `store_unreadable`, `store_unreachable`, `store_exposed` if other users
 *   may open the file (not checked on Windows), `store_locked`, `store_corrupt` (also for another kind of
 *   file), `store_outdated`, `store_version` if a newer proviso made the database, or `store_unavailable` if
 *   libsql or pg is not installed.
 */
export function openStores(
  place: string,
  ifMissing: "create" | "refuse" = "refuse",
  options?: DatabaseOptions,
): Promise<StoreDatabase> {
  return openDatabase(place, SCHEMA, ifMissing, options);
}
