import { statSync } from "node:fs";
import { assertString } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import type { DatabaseDialect } from "./columns.js";
import type { Engine } from "./engine.js";
import { GroupCommit, type Write, type WriteLimits, type WriteOptions } from "./group-commit.js";
import { inTime } from "./in-time.js";
import type { IfMissing, Schema } from "./migrations.js";
import { openPostgres } from "./postgres.js";
import type { Queries } from "./queries.js";
import { createSqlite, openSqlite } from "./sqlite.js";
import { StorageError, type StorageErrorCode, storeError } from "./storage-error.js";

/** How a database is opened. */
export interface DatabaseOptions {
  /**
   * Bytes that must be free on the disk of an SQLite file: below, every write but revocations is
   * refused; 64 MiB unless given, 0 for no limit. Not looked at for PostgreSQL.
   */
  readonly reserve?: number;
  /** Milliseconds that a write to an SQLite file waits for those of other processes; 2000 unless given. */
  readonly patience?: number;
  /**
   * Milliseconds for which the callback of a write may run, such as that of `exclusively`, before it is refused as
   * `store_timeout`; 10,000 unless given.
   */
  readonly writeTimeout?: number;
}

const RESERVE = 64 * 2 ** 20;
const PATIENCE = 2000;
/** Longer than PostgreSQL gives a statement. */
const WRITE_TIMEOUT = 10_000;
/** Milliseconds: a timer of Node fires at once where it is given more. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** Milliseconds that a probe waits for the database: who asks may give up after a second. */
const PROBE = 900;
const UNITS: { readonly [name: string]: string } = {
  reserve: "bytes",
  patience: "milliseconds",
  writeTimeout: "milliseconds",
};

/** One database, SQLite or PostgreSQL, with tables of known shapes, which the stores share. */
export class Database<Tables> {
  /** The file as it was named, or the address without its password. */
  readonly name: string;
  readonly dialect: DatabaseDialect;
  readonly #engine: Engine<Tables>;
  readonly #commits: GroupCommit<Tables>;
  #closed: Promise<void> | undefined;

  /** @internal Use {@link openDatabase}. */
  constructor(engine: Engine<Tables>, limits: WriteLimits) {
    this.name = engine.name;
    this.dialect = engine.dialect;
    this.#engine = engine;
    this.#commits = new GroupCommit(engine, limits);
  }

  /**
   * Reads what is committed, from the file that is in its place now.
   *
   * @throws TypeError if the database is closed.
   * @throws StorageError
   */
  async read<T>(action: (db: Queries<Tables>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    this.#engine.assertInPlace();
    return action(this.#engine.reader);
  }

  /** Reads as {@link Database.read} does, but past every cache of this process. */
  async readAfresh<T>(action: (db: Queries<Tables>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    return this.#engine.afresh(action);
  }

  /**
   * Writes all of `action` or nothing. Fulfilled once it is on the disk, past any crash; concurrent calls share a
   * transaction. If `action` throws, its error is thrown on. After a deadlock, `action` runs again.
   *
   * @param action - Waits for its own queries alone: one that waits for another write of this database is refused as
   *   `store_timeout`.
   * @throws TypeError if the database is closed.
   * @throws StorageError It must then be taken as not written.
   */
  async write<T>(action: Write<Tables, T>, options: WriteOptions = {}): Promise<T> {
    this.#assertOpen();
    return this.#commits.write(action, options);
  }

  /** Whether there is room for writes that are not revocations; never throws. */
  async hasRoom(): Promise<boolean> {
    return (await this.#commits.shortage()) === undefined;
  }

  /**
   * Why nothing can be written now: the code of a StorageError, such as `store_read_only` after a failover;
   * `undefined` if writes go through. A disk that is nearly full is {@link Database.hasRoom}'s; one that has just
   * refused a write is `store_full` here.
   */
  async problem(): Promise<StorageErrorCode | undefined> {
    if (this.isClosed) return "store_unreachable";
    try {
      await inTime(this.#engine.assertUsable(), PROBE, () => unanswered(this.name, PROBE));
      return this.#commits.problem;
    } catch (error) {
      return storeError(error, this.name).code;
    }
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Waits for what is being written, and lets go of the database. */
  async close(): Promise<void> {
    this.#closed ??= this.#commits.drain().then(() => this.#engine.close());
    await this.#closed;
  }

  #assertOpen(): void {
    if (this.isClosed) throw new TypeError("the database is closed");
  }
}

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
  assertString(place, "place");
  assertMembers(options, Object.keys(UNITS), "options");
  const { reserve = RESERVE, patience = PATIENCE, writeTimeout = WRITE_TIMEOUT } = options;
  for (const [name, value] of Object.entries({ reserve, patience, writeTimeout })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new TypeError(`${name} must be a whole number of ${UNITS[name]}`);
  }
  if (writeTimeout < 1 || writeTimeout > LONGEST_TIMER) {
    throw new TypeError(`writeTimeout must be 1 to ${LONGEST_TIMER} milliseconds`);
  }
  const limits = { reserve, writeTimeout };
  if (isAddress(place)) {
    return new Database(await openPostgres<Tables>(place, schema, ifMissing), limits);
  }
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(place)) {
    // The address is not shown: it may have a password in it.
    throw new TypeError("a database is a file, or an address that begins with postgres://");
  }
  if (ifMissing !== "refuse") {
    await createSqlite(place, schema).catch((error: unknown) => {
      const isThere = statSync(place, { throwIfNoEntry: false }) !== undefined;
      if (ifMissing === "new" || !isThere) throw error;
    });
  }
  return new Database(await openSqlite<Tables>(place, schema, patience), limits);
}

/** The error for a database that has not answered for so many milliseconds. */
export function unanswered(name: string, milliseconds: number): StorageError {
  const detail = `no answer for ${milliseconds / 1000} s`;
  return new StorageError("store_unreachable", name, { detail });
}

/** Also what is malformed: as a path, it would be shown with the password in it. */
const ADDRESS = /^\s*(jdbc:)?postgres(ql)?:/i;

/** Whether a place is to be an address of PostgreSQL, and not a file. */
export function isAddress(place: string): boolean {
  return ADDRESS.test(place);
}
