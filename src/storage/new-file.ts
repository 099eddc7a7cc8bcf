import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { encodeBase64url } from "../bytes/base64.js";
import { randomBytes } from "../bytes/random.js";
import { StorageError, storeCreationError } from "./storage-error.js";

/** Milliseconds after which a file of an unfinished change belongs to a process that died. */
const ABANDONED = 60_000;

/** A name in the directory of `path` for what is to take its place; nobody else has it. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${encodeBase64url(randomBytes(9))}.tmp`);
}

/** Makes an empty file that only its owner may open, and hands it to `fill`. */
export function createPrivateFile(path: string, fill: (fd: number) => void): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    fill(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Makes a file under a temporary name, for `put` to give it its own; nothing else is left, and what
 * was done survives a power cut.
 *
 * @param put - Makes the file at the path it gets, and links or renames it to `path`.
 */
export function throughTemporary(path: string, put: (temporary: string) => void): void {
  removeAbandoned(path);
  const temporary = temporaryName(path);
  try {
    put(temporary);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectoryOf(path);
}

/** Makes names that were just given or taken in the directory of `path` survive a power cut. */
export function syncDirectoryOf(path: string): void {
  try {
    const fd = openSync(dirname(path), "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Windows and some network file systems can not do this for a directory, and need not.
  }
}

/** Removes what processes that died amid a change of `path` left beside it: it may hold secrets. */
export function removeAbandoned(path: string): void {
  const directory = dirname(path);
  const start = `.${basename(path)}.`;
  try {
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(start) || !name.endsWith(".tmp")) continue;
      const file = join(directory, name);
      if (Date.now() - lstatSync(file).mtimeMs > ABANDONED) rmSync(file, { force: true });
    }
  } catch {
    // Someone else has just removed one, or the directory can not be listed; the next change tries.
  }
}

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
