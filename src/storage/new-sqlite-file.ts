import { linkSync, lstatSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { createPrivateFile, removeAbandoned, syncDirectoryOf, temporaryName } from "./new-file.js";
import type { Connect, SqliteKind } from "./sqlite-driver.js";
import { StorageError, storeCreationError } from "./storage-error.js";

/**
 * Makes an empty file of a kind, mode 0600. It appears whole or not at all, and one that is there
 * already is never overwritten.
 *
 * @param path - As the caller named it.
 * @throws StorageError `store_exists`, also for what is left of an older file beside it, or what
 *   {@link storeCreationError} says.
 */
export function createSqliteFile(connect: Connect, kind: SqliteKind, path: string): void {
  const file = resolve(path);
  const temporary = temporaryName(file);
  removeAbandoned(file);
  try {
    // SQLite would take what is left of an older file for changes to the new one.
    for (const ending of ["", "-wal", "-journal"]) assertAbsent(file, path, ending);
    try {
      createPrivateFile(temporary, () => {});
      initialize(connect, kind, temporary);
      linkSync(temporary, file);
    } finally {
      for (const ending of ["", "-journal"]) rmSync(temporary + ending, { force: true });
    }
  } catch (error) {
    throw storeCreationError(error, path);
  }
  syncDirectoryOf(file);
}

/** @throws StorageError `store_exposed` if others than the owner have rights that the kind forbids. */
export function assertPrivate(path: string, { exposed }: SqliteKind): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (process.platform === "win32" || stat === undefined || (stat.mode & exposed) === 0) return;
  const detail = `its mode is ${(stat.mode & 0o777).toString(8).padStart(4, "0")}`;
  throw new StorageError("store_exposed", path, { detail });
}

function assertAbsent(file: string, path: string, ending: string): void {
  if (lstatSync(file + ending, { throwIfNoEntry: false }) === undefined) return;
  const detail = ending === "" ? {} : { detail: `${path}${ending} is left of an older database` };
  throw new StorageError("store_exists", path, detail);
}

/** Makes the empty file at `path` an empty one of its kind. */
function initialize(connect: Connect, kind: SqliteKind, path: string): void {
  const connection = connect(path);
  try {
    connection.exec(`
      PRAGMA synchronous = FULL;
      BEGIN;
      ${kind.tables}
      PRAGMA application_id = ${kind.applicationId};
      PRAGMA user_version = ${kind.format};
      COMMIT;
    `);
  } finally {
    connection.close();
  }
}
