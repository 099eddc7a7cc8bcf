import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { SqliteDatabase, SqliteStatement } from "kysely";
import { bindable } from "./columns.js";
import { StorageError, storeError } from "./storage-error.js";

/** A connection to an SQLite file with Kysely's interface. Throws only StorageErrors. */
export interface Connection extends SqliteDatabase {
  readonly inTransaction: boolean;
  /** Runs statements that take no values and return no rows. */
  exec(sql: string): void;
  /**
   * Commits on a libsql thread, so that the main thread stays free. Until the promise resolves, the connection
   * must not be used: `prepare` and `exec` throw a TypeError.
   */
  commit(): Promise<void>;
}

/**
 * Opens an existing SQLite file; never creates one.
 *
 * @param mode - `glance` reads only the file itself, and neither reads, creates nor removes a log beside the
 *   file. `write` unless given.
 */
export type Connect = (path: string, name: string, mode?: keyof typeof MODES) => Connection;

/** Query parameters of SQLite's file URIs, by mode. */
const MODES = { write: "mode=rw", glance: "mode=ro&immutable=1" } as const;

const load = createRequire(import.meta.url);

/** Milliseconds that a single statement waits for other processes; a whole transaction waits longer. */
const STATEMENT_WAIT = 100;
/** Maximum number of prepared statements that one connection caches. */
const MAX_PREPARED = 200;

/** The part of libsql's connection that this module uses. */
interface Database {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/**
 * Calls `exec` of `libsql/promise`, which shares its database objects with `libsql`. The module is loaded at
 * the first commit.
 */
function execLater(database: Database, sql: string): Promise<unknown> {
  const { prototype } = load("libsql/promise") as typeof import("libsql/promise");
  return prototype.exec.call(database, sql);
}

/**
 * Loads libsql; no other file imports it.
 *
 * @param name - The path as the caller gave it, for messages.
 * @throws StorageError `store_unavailable`.
 */
export async function loadLibsql(name: string): Promise<Connect> {
  try {
    // libsql is CommonJS: `import` would first load Node's ES module loader and scan libsql for exports.
    const Libsql = load("libsql") as typeof import("libsql");
    return (path, called, mode = "write") => {
      // With a plain path, libsql would create a missing file, or take the path for a network address.
      const url = `${pathToFileURL(path).href}?${MODES[mode]}`;
      return attempt(called, () =>
        connectionOf(new Libsql(url, { timeout: STATEMENT_WAIT }), called),
      );
    };
  } catch (cause) {
    throw new StorageError("store_unavailable", name, { detail: "npm install libsql", cause });
  }
}

function connectionOf(database: Database, name: string): Connection {
  const prepared = new Map<string, SqliteStatement>();
  let committing = false;
  const assertFree = (): void => {
    // Without this check, the statement would wait for the commit, and then run outside the transaction.
    if (committing) throw new TypeError("a transaction is being committed on this connection");
  };
  return {
    get inTransaction() {
      return database.inTransaction;
    },
    exec: (sql) => {
      assertFree();
      attempt(name, () => database.exec(sql));
    },
    async commit() {
      assertFree();
      committing = true;
      try {
        await execLater(database, "COMMIT");
      } catch (error) {
        throw storeError(error, name);
      } finally {
        committing = false;
      }
    },
    prepare(sql) {
      assertFree();
      const known = prepared.get(sql);
      if (known !== undefined) return known;
      const statement = attempt(name, () => database.prepare(sql));
      if (prepared.size >= MAX_PREPARED) prepared.clear();
      const checked: SqliteStatement = {
        reader: statement.reader,
        all: (values) => attempt(name, () => statement.all(values.map(bindable))),
        run: (values) => attempt(name, () => statement.run(values.map(bindable))),
        iterate: (values) => attempt(name, () => statement.iterate(values.map(bindable))),
      };
      prepared.set(sql, checked);
      return checked;
    },
    close: () => {
      database.close();
    },
  };
}

function attempt<T>(name: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw error instanceof TypeError ? error : storeError(error, name);
  }
}
