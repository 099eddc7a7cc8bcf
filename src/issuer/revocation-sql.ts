import { pathToFileURL } from "node:url";
import { StorageError } from "./storage-error.js";

/** What is used of a prepared statement of libsql. */
export interface Statement {
  run(...values: (string | number | null)[]): { readonly changes: number };
  all(...values: (string | number | null)[]): unknown[];
}

/** What is used of a connection of libsql. */
export interface Connection {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

/** Opens an SQLite file that is there; never makes one. */
export type Connect = (path: string) => Connection;

/** "prvs": tells a revocation store from other SQLite files. */
export const APPLICATION_ID = 0x70727673;
/** The layout of the tables; grows when it changes. */
export const FORMAT = 1;
/** Milliseconds that a writer waits for others. */
export const PATIENCE = 2000;

// `id` and `reason` are JSON strings: libsql reads a text only up to its first NUL, and SQLite keeps
// no lone surrogates, so that a principal would come back as someone else.
const SCHEMA = `
  PRAGMA synchronous = FULL;
  BEGIN;
  CREATE TABLE revocation (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    before TEXT,
    until TEXT,
    at TEXT NOT NULL,
    reason TEXT,
    changed INTEGER NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE INDEX revocation_changed ON revocation (changed);
  CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    pruned INTEGER NOT NULL
  ) STRICT;
  INSERT INTO state VALUES (1, 0, 0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
  COMMIT;
`;

/**
 * Loads libsql, which only a store needs.
 *
 * @throws StorageError `store_unavailable`.
 */
export async function loadDriver(path: string): Promise<Connect> {
  try {
    const { default: Database } = await import("libsql");
    return (file) => {
      // A plain path would be made if it is missing, or taken for an address on the network.
      return new Database(`${pathToFileURL(file).href}?mode=rw`, { timeout: PATIENCE });
    };
  } catch (cause) {
    throw new StorageError("store_unavailable", path, { cause });
  }
}

/** Makes the empty file at `path` an empty store. */
export function initialize(connect: Connect, path: string): void {
  const connection = connect(path);
  try {
    connection.exec(SCHEMA);
  } finally {
    connection.close();
  }
}
