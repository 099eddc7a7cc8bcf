import { sql } from "kysely";
import { type Database, type DatabaseOptions, openDatabase } from "../storage/database.js";
import { makeTables, type RowsOf, type Schema } from "../storage/migrations.js";
import { type ISSUED_HOPS, LEDGER_TABLES } from "./tables/ledger.js";
import { MEMORY_TABLES } from "./tables/memory.js";
import { REGISTRY_TABLES } from "./tables/registry.js";
import { RESOURCE_NUMBER_TABLES } from "./tables/resource-numbers.js";
import { REVOCATION_TABLES, SAVED_LIST_TABLES } from "./tables/revocations.js";
import { type TASK_MESSAGES, TASK_TABLES, thinTaskIndexes } from "./tables/tasks.js";

/** Every table of every store: they share one database. */
export interface StoreTables
  extends RowsOf<typeof REVOCATION_TABLES>,
    RowsOf<typeof SAVED_LIST_TABLES>,
    LedgerRows,
    TaskRows,
    RowsOf<typeof RESOURCE_NUMBER_TABLES>,
    RowsOf<typeof MEMORY_TABLES>,
    RowsOf<typeof REGISTRY_TABLES> {}

type LedgerRows = {
  [Name in keyof RowsOf<typeof LEDGER_TABLES>]: RowsOf<typeof LEDGER_TABLES>[Name] &
    (Name extends "issued" ? RowsOf<typeof ISSUED_HOPS>["issued"] : unknown);
};

type TaskRows = {
  [Name in keyof RowsOf<typeof TASK_TABLES>]: RowsOf<typeof TASK_TABLES>[Name] &
    (Name extends "task" ? RowsOf<typeof TASK_MESSAGES>["task"] : unknown);
};

/** A database with the tables of every store. */
export type StoreDatabase = Database<StoreTables>;

const SCHEMA: Schema = {
  /** "prve". */
  applicationId: 0x70727665,
  /** "prvs", "prvl" and "prvt": a file for each store; "prvd". */
  outdated: [0x70727673, 0x7072766c, 0x70727674, 0x70727664],
  migrations: [
    async (step) => {
      await makeTables(step, REVOCATION_TABLES);
      await makeTables(step, LEDGER_TABLES);
      await makeTables(step, TASK_TABLES);
      await makeTables(step, RESOURCE_NUMBER_TABLES);
      await step.run(sql`INSERT INTO revocation_state VALUES (1, 0, 0)`);
    },
    (step) => makeTables(step, MEMORY_TABLES),
    async (step) => {
      await makeTables(step, REGISTRY_TABLES);
      await step.schema.alterTable("issued").addColumn("further", step.columns.text).execute();
    },
    async (step) => {
      await makeTables(step, SAVED_LIST_TABLES);
      await step.schema.createIndex("revocation_until").on("revocation").column("until").execute();
    },
    async (step) => {
      await step.schema.alterTable("task").addColumn("messages", step.columns.text).execute();
      // Keys are base64url.
      await step.run(
        sql`UPDATE task SET messages = (SELECT '["' || string_agg(key, '","') || '"]'
          FROM message WHERE message.task = task.id)`,
      );
      await thinTaskIndexes(step);
    },
  ],
};

/**
 * Makes a database for the stores: a file of mode 0600, or the tables of an empty PostgreSQL database.
 *
 * @param place - A path, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
 * @throws TypeError on wrong options or a malformed address.
 * @throws StorageError `store_exists` if a file is there, or as {@link openStores} does.
 */
export function createStores(place: string, options?: DatabaseOptions): Promise<StoreDatabase> {
  return openDatabase(place, SCHEMA, "new", options);
}

/**
 * Opens the database of the stores. Several processes may have it open at once; a file on one machine
 * only, since SQLite's locks do not work over network file systems.
 *
 * @param ifMissing - What to do where there is no file; the tables of an empty PostgreSQL database are
 *   always made.
 * @throws TypeError on wrong options or a malformed address.
 * @throws StorageError `store_missing`, `store_unreadable`, `store_unreachable`, `store_exposed` if
 *   others may open the file (not looked at on Windows), `store_locked`, `store_corrupt` also for a
 *   file that is something else, `store_outdated`, `store_version` if a newer proviso made it, or
 *   `store_unavailable` if libsql or pg is not installed.
 */
export function openStores(
  place: string,
  ifMissing: "create" | "refuse" = "refuse",
  options?: DatabaseOptions,
): Promise<StoreDatabase> {
  return openDatabase(place, SCHEMA, ifMissing, options);
}
