import { pathToFileURL } from "node:url";
import { StorageError } from "./storage-error.js";

/** What is kept in a column. */
export type SqlValue = string | number | null;

/** What is used of a prepared statement of libsql. */
export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number };
  all(...values: SqlValue[]): unknown[];
}

/** What is used of a connection of libsql. */
export interface Connection {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

/** How a file is opened: `rw` to read and write, `ro` only to read. */
export type OpenMode = "rw" | "ro";

/** Opens an SQLite file that is there; never makes one. */
export type Connect = (path: string, mode?: OpenMode) => Connection;

/** Milliseconds that a writer waits for others. */
export const PATIENCE = 2000;

/** A kind of SQLite file, told from others by what stands in its header. */
export interface SqliteKind {
  readonly applicationId: number;
  /** The layout of the tables; grows when it changes. */
  readonly format: number;
  /** Makes the tables. */
  readonly tables: string;
  /** Permission bits that it is refused for: not looked at on Windows. */
  readonly exposed: number;
}

/**
 * Loads libsql, which only a store needs.
 *
 * @throws StorageError `store_unavailable`.
 */
export async function loadDriver(path: string): Promise<Connect> {
  try {
    const { default: Database } = await import("libsql");
    return (file, mode = "rw") => {
      // A plain path would be made if it is missing, or taken for an address on the network.
      return new Database(`${pathToFileURL(file).href}?mode=${mode}`, { timeout: PATIENCE });
    };
  } catch (cause) {
    throw new StorageError("store_unavailable", path, { detail: "npm install libsql", cause });
  }
}
