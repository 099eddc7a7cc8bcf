import { statSync } from "node:fs";
import { resolve } from "node:path";
import { errorCode } from "../bytes/error-code.js";
import { assertPrivate, createSqliteFile } from "./new-sqlite-file.js";
import {
  type Connect,
  type Connection,
  type OpenMode,
  PATIENCE,
  type SqliteKind,
  type Statement,
} from "./sqlite-driver.js";
import { StorageError, storeError } from "./storage-error.js";

/** How a transaction is written. */
export interface WriteOptions {
  /** Whether it is on the disk, past any crash of the system, when it has been committed. */
  readonly durable: boolean;
  /** Milliseconds that it waits for other writers; {@link PATIENCE} unless given. */
  readonly wait?: number;
}

/** One connection to one file of a kind. Throws nothing but StorageErrors. */
export class SqliteFile {
  /** The file, as it was named. */
  readonly name: string;
  readonly #path: string;
  readonly #format: number;
  readonly #identity: string;
  readonly #connection: Connection;

  /**
   * Opens a file that is there.
   *
   * @param name - The path as the caller named it.
   * @throws StorageError
   */
  constructor(connect: Connect, kind: SqliteKind, name: string, mode: OpenMode = "rw") {
    this.name = name;
    this.#path = resolve(name);
    this.#format = kind.format;
    this.#identity = this.#look();
    assertPrivate(name, kind);
    this.#connection = this.#connect(connect, mode);
    try {
      this.attempt(() => this.#check(kind, mode));
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  prepare(sql: string): Statement {
    return this.attempt(() => this.#connection.prepare(sql));
  }

  /** Runs `action` in a transaction, with all of its writing or none. */
  write<T>({ durable, wait = PATIENCE }: WriteOptions, action: () => T): T {
    const result = this.attempt(() => {
      const connection = this.#connection;
      this.#assertInPlace();
      connection.exec(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}`);
      connection.exec(`PRAGMA busy_timeout = ${wait}`);
      try {
        connection.exec("BEGIN IMMEDIATE");
        const done = action();
        connection.exec("COMMIT");
        return done;
      } finally {
        if (connection.inTransaction) connection.exec("ROLLBACK");
        connection.exec(`PRAGMA busy_timeout = ${PATIENCE}`);
      }
    });
    // Moved away during the commit, it may be lost to whoever opens the path next.
    if (durable) this.#assertInPlace();
    return result;
  }

  /** Runs `action`, whose errors are the database's. */
  attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw storeError(error, this.name);
    }
  }

  /** The error for contents that can not be. */
  corrupt(detail: string): StorageError {
    return new StorageError("store_corrupt", this.name, { detail });
  }

  /** Puts on the disk, past any crash of the system, what has been written until now. */
  sync(): void {
    // The least that is a change: with it, all that stands before it in the log is synced.
    this.write({ durable: true }, () =>
      this.#connection.exec(`PRAGMA user_version = ${this.#format}`),
    );
  }

  /** Lets go of the file; libsql does so fully when the statements have been collected. */
  close(): void {
    try {
      this.#connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process reads or writes, or this one may only read; the next one does this.
    }
    this.#connection.close();
  }

  #check({ applicationId, format }: SqliteKind, mode: OpenMode): void {
    const pragma = (name: string): unknown => {
      const [row] = this.#connection.prepare(`PRAGMA ${name}`).all();
      return field(row, name);
    };
    if (pragma("application_id") !== applicationId)
      throw this.corrupt("the file is something else");
    const found = pragma("user_version");
    if (typeof found !== "number" || found < 1) throw this.corrupt("it has no format");
    if (found > format) throw new StorageError("store_version", this.name);
    // A write, so only once the file is known to be of this kind.
    if (mode === "rw" && pragma("journal_mode") !== "wal") {
      this.#connection.exec("PRAGMA journal_mode = WAL");
    }
  }

  #assertInPlace(): void {
    if (this.#look() === this.#identity) return;
    throw new StorageError("store_replaced", this.name);
  }

  /** What tells the file from one put in its place. */
  #look(): string {
    return this.attempt(() => {
      const { dev, ino, size } = statSync(this.#path, { bigint: true });
      if (size === 0n) throw this.corrupt("empty file");
      return `${dev}:${ino}`;
    });
  }

  #connect(connect: Connect, mode: OpenMode): Connection {
    try {
      return connect(this.#path, mode);
    } catch (error) {
      // libsql gives no code here, but SQLite's number ends the message; 14 is "can not open".
      if (errorCode(error) !== "") throw storeError(error, this.name);
      throw new StorageError("store_unreadable", this.name, { cause: error });
    }
  }
}

/** Opens a file of a kind, or makes it if there is none. */
export function openOrCreate(connect: Connect, kind: SqliteKind, path: string): SqliteFile {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    try {
      createSqliteFile(connect, kind, path);
    } catch (error) {
      // Someone else may have been faster.
      const there = statSync(path, { throwIfNoEntry: false }) !== undefined;
      if (!(error instanceof StorageError) || error.code !== "store_exists" || !there) throw error;
    }
  }
  return new SqliteFile(connect, kind, path);
}

/** A column of a row as libsql gives it. */
export function field(row: unknown, name: string): unknown {
  return typeof row === "object" && row !== null ? Reflect.get(row, name) : undefined;
}
