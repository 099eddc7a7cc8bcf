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
  /**
   * Commits on a thread of libsql: this one does other work while the disk is waited for. Until it is fulfilled,
   * nothing else may be asked of the connection.
   *
   * @throws TypeError from `prepare` and `exec` meanwhile.
   */
  commit(): Promise<void>;
}

/**
 * Opens an SQLite file that is there; never makes one.
 *
 * @param mode - `glance` reads the file as it stands: nothing beside it is read, made or removed. `write` unless given.
 */
export type Connect = (path: string, name: string, mode?: keyof typeof MODES) => Connection;

/** What SQLite's URIs call them. */
const MODES = { write: "mode=rw", glance: "mode=ro&immutable=1" } as const;

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

/** `exec` of `libsql/promise`, whose databases are the same inside: loaded by what commits. */
function execLater(database: Database, sql: string): Promise<unknown> {
  const { prototype } = load("libsql/promise") as typeof import("libsql/promise");
  return prototype.exec.call(database, sql);
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
    return (path, called, mode = "write") => {
      // A plain path would be made if it is missing, or taken for an address on the network.
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
    // It would wait, and then run outside of the transaction.
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
