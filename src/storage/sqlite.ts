import { linkSync, lstatSync, realpathSync, rmSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { sql } from "kysely";
import type { Engine } from "./engine.js";
import { type Connect, type Connection, loadLibsql } from "./libsql.js";
import { migrate, type Schema } from "./migrations.js";
import {
  createPrivateFile,
  exposureOf,
  removeAbandoned,
  syncDirectoryOf,
  temporaryName,
} from "./new-file.js";
import { type OpenFile, openFile, withPatience } from "./sqlite-file.js";
import { StorageError, storeCreationError, storeError } from "./storage-error.js";

/**
 * Creates a database file with mode 0600 under a temporary name, and renames it once it is complete. Never
 * overwrites a file.
 *
 * @throws StorageError `store_exists` if the file, or a log left beside it, exists; `store_folder_unwritable`,
 *   `store_unwritable`, `store_full` or `store_unavailable`.
 */
export async function createSqlite(name: string, schema: Schema): Promise<void> {
  const connect = await loadLibsql(name);
  const file = resolve(name);
  const temporary = temporaryName(file);
  removeAbandoned(file);
  try {
    assertNew(file, name);
    createPrivateFile(temporary, "");
    const made = openFile(connect, temporary, name);
    try {
      made.connection.exec("PRAGMA synchronous = FULL");
      await bringUpToDate(made, schema, name, "new");
    } finally {
      await made.close();
    }
    linkSync(temporary, file);
  } catch (error) {
    throw storeCreationError(error, name);
  } finally {
    for (const ending of ["", "-journal"]) rmSync(temporary + ending, { force: true });
  }
  syncDirectoryOf(file);
}

function assertNew(file: string, name: string): void {
  // If an older database has left a log beside the path, SQLite would apply the log to the new file.
  for (const ending of ["", "-wal", "-journal"]) {
    if (lstatSync(file + ending, { throwIfNoEntry: false }) === undefined) continue;
    const detail = ending === "" ? {} : { detail: `${name}${ending} is left of an older database` };
    throw new StorageError("store_exists", name, detail);
  }
}

/**
 * Opens an existing database file and brings its format up to date.
 *
 * @throws StorageError if the database cannot be opened.
 */
export async function openSqlite<Tables>(
  name: string,
  schema: Schema,
  patience: number,
): Promise<Engine<Tables>> {
  const connect = await loadLibsql(name);
  const path = resolve(name);
  const look = (file: string): string => identityOf(file, name);
  const file = look(path);
  // For a symbolic link, SQLite keeps the log beside the link's target.
  const logPath = `${realpathSync(path)}-wal`;
  const detail = exposureOf(statSync(path));
  if (detail !== undefined) throw new StorageError("store_exposed", name, { detail });
  const opened: OpenFile<Tables>[] = [];
  const open = (): OpenFile<Tables> => {
    const one = openFile<Tables>(connect, path, name, { patience });
    opened.push(one);
    return one;
  };
  const close = async (): Promise<void> => {
    for (const one of opened) await one.close();
  };
  try {
    const [reading, writing, checking] = [open(), open(), open()];
    assertOurs(connect, path, schema, name);
    await bringUpToDate(writing, schema, name, "old");
    // Change the journal mode only now that the file is known to be one of our databases.
    await withPatience(patience, () => {
      if (pragma(writing.connection, "journal_mode") === "wal") return;
      writing.connection.exec("PRAGMA journal_mode = WAL");
    });
    // The transaction waits between its attempts in JavaScript, because SQLite's own waiting blocks the whole
    // process.
    writing.connection.exec("PRAGMA busy_timeout = 0");
    writing.connection.exec("PRAGMA synchronous = FULL");
    for (const { connection } of [reading, checking]) connection.exec("PRAGMA query_only = ON");
    pragma(reading.connection, "user_version");
    const log = look(logPath);
    const assertInPlace = (): void => {
      if (look(path) === file && look(logPath) === log) return;
      throw new StorageError("store_replaced", name);
    };
    return {
      name,
      dialect: "sqlite",
      reader: reading.db,
      writer: writing.db,
      assertInPlace,
      assertUsable: async () => assertInPlace(),
      async freeBytes() {
        const { bavail, bsize } = await statfs(dirname(path));
        return bavail * bsize;
      },
      async afresh(read) {
        // Reuse the connection: libsql keeps the files of a closed connection open for a while.
        checking.connection.exec("PRAGMA shrink_memory");
        return read(checking.db);
      },
      async close() {
        // Moves the log into the file, unless another process is reading or writing.
        await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(writing.db).catch(() => {});
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws StorageError `store_corrupt`, `store_outdated` or `store_version`. */
async function bringUpToDate<Tables>(
  { db, connection }: OpenFile<Tables>,
  schema: Schema,
  name: string,
  file: "new" | "old",
): Promise<void> {
  const current = schema.migrations.length;
  if (file === "old" && formatOf(connection, schema, name) === current) return;
  await db.transaction().execute(async (transaction) => {
    // Another process may have migrated the file meanwhile.
    const format = file === "new" ? 0 : formatOf(connection, schema, name);
    await migrate(schema, format, transaction, "sqlite");
    connection.exec(`PRAGMA application_id = ${schema.applicationId}`);
    connection.exec(`PRAGMA user_version = ${current}`);
  });
}

/**
 * Refuses another program's file before any other connection reads it. When a connection to such a file is
 * closed, SQLite would move the log beside the file into the file, and remove the log.
 */
function assertOurs(connect: Connect, path: string, schema: Schema, name: string): void {
  const connection = connect(path, name, "glance");
  try {
    assertApplication(connection, schema, name);
  } finally {
    connection.close();
  }
}

function assertApplication(connection: Connection, schema: Schema, name: string): void {
  const id = pragma(connection, "application_id");
  if (schema.outdated.some((known) => known === id)) throw new StorageError("store_outdated", name);
  if (id === schema.applicationId) return;
  throw new StorageError("store_corrupt", name, { detail: "the file is something else" });
}

/**
 * Returns the format of a file.
 * @throws StorageError if the file is not one of our databases.
 */
function formatOf(connection: Connection, schema: Schema, name: string): number {
  assertApplication(connection, schema, name);
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

/** Returns an identity of the file at a path. The identity changes when another file takes the path. */
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
