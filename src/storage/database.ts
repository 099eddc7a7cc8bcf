import { statSync } from "node:fs";
import { assertString } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import type { DatabaseDialect } from "./columns.js";
import type { Engine, Queries } from "./engine.js";
import { GroupCommit, type Write, type WriteLimits, type WriteOptions } from "./group-commit.js";
import { inTime } from "./in-time.js";
import type { IfMissing, Schema } from "./migrations.js";
import { openPostgres } from "./postgres.js";
import { createSqlite, openSqlite } from "./sqlite.js";
import { StorageError, type StorageErrorCode, storeError } from "./storage-error.js";

/** Options for opening a database. */
export interface DatabaseOptions {
  /**
   * Bytes that must stay free on the disk of an SQLite file; 64 MiB unless given, 0 for no limit. If fewer bytes are
   * free, only urgent writes are made, such as revocations. Ignored for PostgreSQL.
   */
  readonly reserve?: number;
  /** Milliseconds that a write to an SQLite file waits for writes of other processes; 2000 unless given. */
  readonly patience?: number;
  /**
   * Milliseconds that the callback of a write (such as that of `exclusively`) may run before the write fails
   * with `store_timeout`; 10,000 unless given.
   */
  readonly writeTimeout?: number;
}

const RESERVE = 64 * 2 ** 20;
const PATIENCE = 2000;
/** Default of `writeTimeout`, in milliseconds. It is longer than the time limit of a PostgreSQL statement. */
const WRITE_TIMEOUT = 10_000;
/** Longest delay of a Node timer in milliseconds; a timer with a longer delay fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** Milliseconds that a health check waits for the database; monitoring systems may give up after a second. */
const PROBE = 900;
const UNITS: { readonly [name: string]: string } = {
  reserve: "bytes",
  patience: "milliseconds",
  writeTimeout: "milliseconds",
};

/** An SQLite or PostgreSQL database, with typed tables that the stores share. */
export class Database<Tables> {
  /** The file as the caller named it, or the address without its password. */
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
   * Reads committed data. Fails with `store_replaced` if another file has taken the place of the database.
   *
   * @throws TypeError if the database is closed.
   * @throws StorageError if the database cannot be used.
   */
  async read<T>(action: (db: Queries<Tables>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    this.#engine.assertInPlace();
    return action(this.#engine.reader);
  }

  /** Reads as {@link Database.read} does, but without any cache of this process. */
  async readAfresh<T>(action: (db: Queries<Tables>) => Promise<T>): Promise<T> {
    this.#assertOpen();
    return this.#engine.afresh(action);
  }

  /**
   * Runs `action` in a transaction. Resolves once the data is durable; concurrent calls share a transaction. If
   * `action` throws, nothing that it wrote is kept, and its error is rethrown. After a deadlock, `action` runs
   * again.
   *
   * @param action - Runs the queries of the write, and may await nothing else. If it awaits another write of
   *   this database, the write fails with `store_timeout`.
   * @throws TypeError if the database is closed.
   * @throws StorageError if the write failed; treat the data as not written.
   */
  async write<T>(action: Write<Tables, T>, options: WriteOptions = {}): Promise<T> {
    this.#assertOpen();
    return this.#commits.write(action, options);
  }

  /** Returns whether the disk has room for writes that are not urgent. Never throws. */
  async hasRoom(): Promise<boolean> {
    return (await this.#commits.shortage()) === undefined;
  }

  /**
   * Returns the code of the StorageError with which writes currently fail, such as `store_read_only` after a
   * failover; `undefined` if writes succeed. `store_full` means that the disk has just refused a write; {@link
   * Database.hasRoom} warns before a write is refused.
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

  /** Waits for pending writes and closes the database. */
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
 * @throws TypeError if an option is wrong or the address is malformed.
 * @throws StorageError if the database cannot be used.
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
    // The address is not shown, since it may contain a password.
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

/** Returns the error for a database that has not answered within this many milliseconds. */
export function unanswered(name: string, milliseconds: number): StorageError {
  const detail = `no answer for ${milliseconds / 1000} s`;
  return new StorageError("store_unreachable", name, { detail });
}

/** Also matches malformed addresses. If such an address were taken for a path, it would be shown with its password. */
const ADDRESS = /^\s*(jdbc:)?postgres(ql)?:/i;

/** Returns whether a location is a PostgreSQL address rather than a file. */
export function isAddress(place: string): boolean {
  return ADDRESS.test(place);
}
