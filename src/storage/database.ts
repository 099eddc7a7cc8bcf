import { statSync } from "node:fs";
import type { Kysely } from "kysely";
import type { DatabaseDialect } from "./columns.js";
import type { Engine } from "./engine.js";
import { GroupCommit, type Write, type WriteOptions } from "./group-commit.js";
import type { Schema } from "./migrations.js";
import { openPostgres } from "./postgres.js";
import { createSqlite, openSqlite } from "./sqlite.js";
import { StorageError } from "./storage-error.js";

/** How a database is opened. */
export interface DatabaseOptions {
  /**
   * Bytes that must be free on the disk of an SQLite file: below, every write but revocations is
   * refused; 64 MiB unless given, 0 for no limit. Not looked at for PostgreSQL.
   */
  readonly reserve?: number;
}

const RESERVE = 64 * 2 ** 20;

/**
 * One database, SQLite or PostgreSQL, with tables of known shapes. The stores share it; nothing of it
 * is reachable but through `read`, `write` and `exclusively`.
 */
export class Database<Tables> {
  /** The file as it was named, or the address without its password. */
  readonly name: string;
  readonly dialect: DatabaseDialect;
  readonly #engine: Engine<Tables>;
  readonly #commits: GroupCommit<Tables>;
  readonly #reserve: number;
  #closed: Promise<void> | undefined;

  /** @internal Use {@link openDatabase}. */
  constructor(engine: Engine<Tables>, { reserve = RESERVE }: DatabaseOptions) {
    if (!Number.isSafeInteger(reserve) || reserve < 0) {
      throw new TypeError("reserve must be a whole number of bytes");
    }
    this.name = engine.name;
    this.dialect = engine.dialect;
    this.#engine = engine;
    this.#reserve = reserve;
    this.#commits = new GroupCommit(engine, reserve);
  }

  /**
   * Reads what is committed, from the file that is in its place now.
   *
   * @throws TypeError from within a write, or if the database is closed.
   * @throws StorageError
   */
  async read<T>(action: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    this.#commits.assertOutside();
    this.#engine.assertInPlace();
    return action(this.#engine.reader);
  }

  /** Reads as {@link Database.read} does, but past every cache of this process. */
  async readAfresh<T>(action: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    return this.#engine.afresh(action);
  }

  /**
   * Writes all of `action` or nothing. Fulfilled once it is on the disk, past any crash; what
   * concurrent calls write shares a transaction. If `action` throws, its error is thrown on.
   *
   * @throws TypeError from within a write, or if the database is closed.
   * @throws StorageError It must then be taken as not written.
   */
  async write<T>(action: Write<Tables, T>, options: WriteOptions = {}): Promise<T> {
    this.#assertOpen();
    return this.#commits.write(action, options);
  }

  /**
   * Writes as {@link Database.write} does, while no other process is in an `exclusively` of this name:
   * a lock that is lifted if the process dies.
   */
  async exclusively<T>(name: string, action: Write<Tables, T>): Promise<T> {
    return this.write(async (transaction) => {
      await this.#engine.lock(transaction, name);
      return action(transaction);
    });
  }

  /** Whether there is room for writes that are not revocations; never throws. */
  async hasRoom(): Promise<boolean> {
    const free = await this.#engine.freeBytes().catch(() => undefined);
    return free === undefined || free >= this.#reserve;
  }

  /** Waits for what is being written, and lets go of the database. */
  async close(): Promise<void> {
    this.#closed ??= this.#commits.drain().then(() => this.#engine.close());
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new TypeError("the database is closed");
  }
}

/** What to do where there is no database yet. PostgreSQL's tables are made wherever they lack. */
export type IfMissing = "create" | "refuse";

/**
 * Opens a database: a file, or an address that begins with `postgres://` or `postgresql://`.
 *
 * @throws TypeError on wrong options or a malformed address.
 * @throws StorageError
 */
export async function openDatabase<Tables>(
  place: string,
  schema: Schema,
  ifMissing: IfMissing,
  options: DatabaseOptions = {},
): Promise<Database<Tables>> {
  assertPlace(place);
  if (isAddress(place)) return new Database(await openPostgres<Tables>(place, schema), options);
  const missing = statSync(place, { throwIfNoEntry: false }) === undefined;
  if (missing && ifMissing === "create") await createUnlessThere(place, schema);
  return new Database(await openSqlite<Tables>(place, schema), options);
}

/** Whether a place is an address of PostgreSQL, and not a file. */
export function isAddress(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/**
 * Makes a database where there is none: the tables of an empty PostgreSQL database, or a file.
 *
 * @throws StorageError `store_exists` if a file is there already.
 */
export async function createDatabase<Tables>(
  place: string,
  schema: Schema,
  options: DatabaseOptions = {},
): Promise<Database<Tables>> {
  assertPlace(place);
  if (!isAddress(place)) await createSqlite(place, schema);
  return openDatabase(place, schema, "refuse", options);
}

/** @throws TypeError for an address of another kind; it does not show it, with the password in it. */
function assertPlace(place: string): void {
  if (isAddress(place) || !/^[a-z][a-z\d+.-]+:\/\//i.test(place)) return;
  throw new TypeError("a database is a file, or an address that begins with postgres://");
}

/** Another process may be faster. */
async function createUnlessThere(place: string, schema: Schema): Promise<void> {
  try {
    await createSqlite(place, schema);
  } catch (error) {
    const there = statSync(place, { throwIfNoEntry: false }) !== undefined;
    if (!(error instanceof StorageError) || error.code !== "store_exists" || !there) throw error;
  }
}
