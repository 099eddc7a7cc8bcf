import {
  closeSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { encodeBase64url } from "../bytes/base64.js";
import { randomBytes } from "../bytes/random.js";

/** Milliseconds after which the temporary file of an unfinished change counts as left by a dead process. */
const ABANDONED = 60_000;
/** SQLite also keeps a file beside the database that is being made. */
const TEMPORARY = /\.tmp(-journal)?$/;

/** Returns an unused name in the directory of `path` for the file that will replace it. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${encodeBase64url(randomBytes(9))}.tmp`);
}

/** Makes an error about `temporary` name `path` instead, which the caller asked for. */
export function inPlaceOf(temporary: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  error.message = error.message.replaceAll(temporary, path);
  if ("path" in error && typeof error.path === "string") {
    Object.assign(error, { path: error.path.replaceAll(temporary, path) });
  }
  return error;
}

/**
 * Makes a file, mode 0600, whose content survives a power failure.
 *
 * @param owner - The owner of the file to be replaced; unless given, that of this process.
 */
export function createPrivateFile(path: string, text: string, owner?: Stats): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    writeFileSync(fd, text);
    // When root changes a service's file, the service must still be able to read it.
    if (owner !== undefined && process.getuid?.() !== owner.uid) {
      fchownSync(fd, owner.uid, owner.gid);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes a string to `path`, mode 0600. At every moment, and after a power failure, the file has the old
 * content or the new. Leaves nothing beside it.
 *
 * @param put - Gives the new file its name; unless given, `linkSync`, which never overwrites.
 * @param owner - As {@link createPrivateFile} takes it.
 */
export function putPrivateFile(
  path: string,
  text: string,
  put: (temporary: string, path: string) => void = linkSync,
  owner?: Stats,
): void {
  removeAbandoned(path);
  const temporary = temporaryName(path);
  try {
    createPrivateFile(temporary, text, owner);
    put(temporary, path);
  } catch (error) {
    throw inPlaceOf(temporary, path, error);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectoryOf(path);
}

/** Makes renames in the directory of `path` survive a power failure. */
export function syncDirectoryOf(path: string): void {
  try {
    const fd = openSync(dirname(path), "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Windows and some network file systems cannot sync a directory, and need not.
  }
}

/** Removes the leftovers of processes that died while changing `path`, since they may hold secrets. */
export function removeAbandoned(path: string): void {
  const directory = dirname(path);
  const start = `.${basename(path)}.`;
  try {
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(start) || !TEMPORARY.test(name)) continue;
      const file = join(directory, name);
      if (Date.now() - lstatSync(file).mtimeMs > ABANDONED) rmSync(file, { force: true });
    }
  } catch {
    // Another process has just removed one, or the directory cannot be listed; the next change retries.
  }
}

/** Describes how a file is open to users other than its owner; `undefined` if it is not, and on Windows. */
export function exposureOf({ mode }: Stats): string | undefined {
  if (process.platform === "win32" || (mode & 0o077) === 0) return undefined;
  return `its mode is ${(mode & 0o777).toString(8).padStart(4, "0")}`;
}
