import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { SqliteDatabase, SqliteStatement } from "kysely";
import { bindable } from "./columns.js";
import { StorageError, storeError } from "./storage-error.js";

/** One connection to one SQLite file, as Kysely takes it. Throws nothing but StorageErrors. */
export interface Connection extends SqliteDatabase {
  readonly inTransaction: boolean;
  /** Runs statements that take no values and give no rows. */
  exec(sql: string): void;
}

/** Opens an SQLite file that is there; never makes one. */
export type Connect = (path: string, name: string) => Connection;

const load = createRequire(import.meta.url);

/** Milliseconds that a single statement waits for others; a whole transaction waits longer. */
const STATEMENT_WAIT = 100;
/** Prepared statements that a connection keeps. */
const MAX_PREPARED = 200;

/** What is used of a connection of libsql. */
interface Database {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/**
 * Loads libsql: this file alone knows it.
 *
 * @param name - The path as the caller named it, for messages.
 * @throws StorageError `store_unavailable`.
 */
export async function loadLibsql(name: string): Promise<Connect> {
  try {
    // It is CommonJS: an import would load Node's module loader and lex it for exports first.
    const Libsql = load("libsql") as typeof import("libsql");
    return (path, called) => {
      // A plain path would be made if it is missing, or taken for an address on the network.
      const url = `${pathToFileURL(path).href}?mode=rw`;
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
  return {
    get inTransaction() {
      return database.inTransaction;
    },
    exec: (sql) => {
      attempt(name, () => database.exec(sql));
    },
    prepare(sql) {
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
