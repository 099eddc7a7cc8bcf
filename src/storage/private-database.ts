import { linkSync, lstatSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { createPrivateFile, removeAbandoned, syncDirectoryOf, temporaryName } from "./new-file.js";
import { StorageError, storeCreationError } from "./storage-error.js";

/** Permission bits of others than the owner: what a database holds is the callers' and the agent's. */
const EXPOSED = 0o077;

/**
 * Makes a database file, mode 0600, under a temporary name, and gives it its own when it is whole. A
 * file that is there already is never overwritten.
 *
 * @param name - As the caller named it.
 * @param fill - Makes the empty file at the path it gets a database.
 * @throws StorageError `store_exists`, also for what is left of an older file beside it, or what
 *   {@link storeCreationError} says.
 */
export async function makePrivateFile(
  name: string,
  fill: (path: string) => Promise<void>,
): Promise<void> {
  const file = resolve(name);
  const temporary = temporaryName(file);
  removeAbandoned(file);
  try {
    // SQLite would take what is left of an older file for changes to the new one.
    for (const ending of ["", "-wal", "-journal"]) assertAbsent(file, name, ending);
    try {
      createPrivateFile(temporary, () => {});
      await fill(temporary);
      linkSync(temporary, file);
    } finally {
      for (const ending of ["", "-journal"]) rmSync(temporary + ending, { force: true });
    }
  } catch (error) {
    throw storeCreationError(error, name);
  }
  syncDirectoryOf(file);
}

/** @throws StorageError `store_exposed` if others than the owner have any right; not on Windows. */
export function assertPrivate(name: string): void {
  const stat = statSync(name, { throwIfNoEntry: false });
  if (process.platform === "win32" || stat === undefined || (stat.mode & EXPOSED) === 0) return;
  const detail = `its mode is ${(stat.mode & 0o777).toString(8).padStart(4, "0")}`;
  throw new StorageError("store_exposed", name, { detail });
}

function assertAbsent(file: string, name: string, ending: string): void {
  if (lstatSync(file + ending, { throwIfNoEntry: false }) === undefined) return;
  const detail = ending === "" ? {} : { detail: `${name}${ending} is left of an older database` };
  throw new StorageError("store_exists", name, detail);
}
