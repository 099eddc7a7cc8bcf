import { realpathSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CompiledQuery, type Driver, Kysely, SqliteDialect, SqliteDriver, sql } from "kysely";
import { COLUMNS } from "./columns.js";
import type { Engine } from "./engine.js";
import { type Connect, type Connection, loadLibsql } from "./libsql.js";
import { migrate, type Schema } from "./migrations.js";
import { assertPrivate, makePrivateFile } from "./private-database.js";
import { StorageError, storeError } from "./storage-error.js";

/** Milliseconds that a write waits for those of other processes. */
const PATIENCE = 2000;
/** Milliseconds between two attempts. */
const PAUSE = 5;

/**
 * Makes a database file, mode 0600, which appears whole or not at all.
 *
 * @throws StorageError `store_exists`, `store_unwritable`, `store_full` or `store_unavailable`.
 */
export async function createSqlite(name: string, schema: Schema): Promise<void> {
  const connect = await loadLibsql(name);
  await makePrivateFile(name, async (path) => {
    const connection = connect(path, name);
    const db = kyselyOver(connection);
    try {
      connection.exec("PRAGMA synchronous = FULL");
      await bringUpToDate(db, connection, schema, name, "new");
    } finally {
      await db.destroy();
    }
  });
}

/**
 * Opens a database file that is there, and brings its format up to date.
 *
 * @throws StorageError
 */
export async function openSqlite<Tables>(name: string, schema: Schema): Promise<Engine<Tables>> {
  const connect = await loadLibsql(name);
  const path = resolve(name);
  const look = (file: string): string => identityOf(file, name);
  const file = look(path);
  // SQLite keeps the log beside the file that a symbolic link leads to.
  const logPath = `${realpathSync(path)}-wal`;
  assertPrivate(name);
  const opened: Connection[] = [];
  try {
    const open = (): Connection => {
      const connection = connect(path, name);
      opened.push(connection);
      return connection;
    };
    const [reading, writing] = [open(), open()];
    const [reader, writer] = [kyselyOver<Tables>(reading), kyselyOver<Tables>(writing)];
    await bringUpToDate(writer, writing, schema, name, "old");
    // Only now is it known to be a database of ours.
    if (pragma(writing, "journal_mode") !== "wal") writing.exec("PRAGMA journal_mode = WAL");
    // A transaction waits between its attempts: while SQLite waits, nothing else of this process runs.
    writing.exec("PRAGMA busy_timeout = 0");
    reading.exec("PRAGMA query_only = ON");
    pragma(reading, "user_version");
    const log = look(logPath);
    return {
      name,
      dialect: "sqlite",
      reader,
      writer,
      assertInPlace() {
        if (look(path) === file && look(logPath) === log) return;
        throw new StorageError("store_replaced", name);
      },
      relax(relaxed) {
        writing.exec(`PRAGMA synchronous = ${relaxed ? "NORMAL" : "FULL"}`);
      },
      async freeBytes() {
        const { bavail, bsize } = await statfs(dirname(path));
        return bavail * bsize;
      },
      lock: async () => {},
      afresh: (read) => afresh(connect, path, name, read),
      async close() {
        // What stands in the log moves into the file, unless another process reads or writes.
        await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(writer).catch(() => {});
        await Promise.all([reader.destroy(), writer.destroy()]);
        for (const connection of opened) connection.close();
      },
    };
  } catch (error) {
    for (const connection of opened) connection.close();
    throw error;
  }
}

/** How a transaction begins, and for how many milliseconds it waits for those of other processes. */
interface Beginning {
  readonly begin: string;
  readonly patience: number;
}

export function kyselyOver<Tables>(
  connection: Connection,
  beginning: Beginning = { begin: "BEGIN IMMEDIATE", patience: PATIENCE },
): Kysely<Tables> {
  // Kysely's own `destroy` closes nothing that no query has used; the engine closes connections.
  const database = { prepare: connection.prepare, close: () => {} };
  class Dialect extends SqliteDialect {
    override createDriver(): Driver {
      return new PatientDriver({ database }, connection, beginning);
    }
  }
  return new Kysely<Tables>({ dialect: new Dialect({ database }) });
}

/**
 * Begins a transaction when those of other processes let it. One that is to write begins as a write:
 * had it read first, it could not write beside another writer.
 */
class PatientDriver extends SqliteDriver {
  readonly #connection: Connection;
  readonly #beginning: Beginning;

  constructor(
    config: ConstructorParameters<typeof SqliteDriver>[0],
    connection: Connection,
    beginning: Beginning,
  ) {
    super(config);
    this.#connection = connection;
    this.#beginning = beginning;
  }

  override async beginTransaction(): Promise<void> {
    const { begin, patience } = this.#beginning;
    const until = performance.now() + patience;
    for (;;) {
      try {
        this.#connection.exec(begin);
        return;
      } catch (error) {
        const locked = error instanceof StorageError && error.code === "store_locked";
        // The first of several statements may have begun it.
        if (this.#connection.inTransaction) this.#connection.exec("ROLLBACK");
        if (!locked || performance.now() >= until) throw error;
      }
      await sleep(PAUSE);
    }
  }

  override async rollbackTransaction(
    connection: Parameters<SqliteDriver["rollbackTransaction"]>[0],
  ): Promise<void> {
    // SQLite has rolled back of its own accord where the disk is full.
    if (this.#connection.inTransaction)
      await connection.executeQuery(CompiledQuery.raw("rollback"));
  }
}

/** @throws StorageError `store_corrupt`, `store_outdated` or `store_version`. */
async function bringUpToDate<Tables>(
  db: Kysely<Tables>,
  connection: Connection,
  schema: Schema,
  name: string,
  file: "new" | "old",
): Promise<void> {
  const current = schema.migrations.length;
  if (file === "old" && formatOf(connection, schema, name) === current) return;
  await db.transaction().execute(async (transaction) => {
    // Another process may have been faster.
    const format = file === "new" ? 0 : formatOf(connection, schema, name);
    await migrate(schema, format, {
      schema: transaction.schema,
      dialect: "sqlite",
      columns: COLUMNS.sqlite,
      run: async (statement) => {
        await statement.execute(transaction);
      },
    });
    connection.exec(`PRAGMA application_id = ${schema.applicationId}`);
    connection.exec(`PRAGMA user_version = ${current}`);
  });
}

/** The format of a file that must be a database of ours. */
function formatOf(connection: Connection, schema: Schema, name: string): number {
  const id = pragma(connection, "application_id");
  if (schema.outdated.some((known) => known === id)) throw new StorageError("store_outdated", name);
  if (id !== schema.applicationId) {
    throw new StorageError("store_corrupt", name, { detail: "the file is something else" });
  }
  const format = pragma(connection, "user_version");
  if (typeof format !== "number" || format < 1) {
    throw new StorageError("store_corrupt", name, { detail: "it has no format" });
  }
  if (format > schema.migrations.length) throw new StorageError("store_version", name);
  return format;
}

function pragma(connection: Connection, what: string): unknown {
  const [row] = connection.prepare(`PRAGMA ${what}`).all([]);
  return typeof row === "object" && row !== null ? Reflect.get(row, what) : undefined;
}

async function afresh<Tables, T>(
  connect: Connect,
  path: string,
  name: string,
  read: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const connection = connect(path, name);
  const db = kyselyOver<Tables>(connection);
  try {
    return await read(db);
  } finally {
    await db.destroy();
    connection.close();
  }
}

/** What tells a file from one put in its place. */
export function identityOf(path: string, name: string): string {
  try {
    const { dev, ino, size } = statSync(path, { bigint: true });
    if (size === 0n && !path.endsWith("-wal")) {
      throw new StorageError("store_corrupt", name, { detail: "empty file" });
    }
    return `${dev}:${ino}`;
  } catch (error) {
    throw storeError(error, name);
  }
}
