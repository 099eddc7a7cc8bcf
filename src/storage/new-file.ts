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

/** Age in milliseconds from which the temporary file of an unfinished change counts as left by a dead process. */
const ABANDONED = 60_000;
/** While a database is being made, SQLite keeps a second file beside it. */
const TEMPORARY = /\.tmp(-journal)?$/;

/** Returns an unused name in the directory of `path` for the file that will replace it. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${encodeBase64url(randomBytes(9))}.tmp`);
}

/** Replaces the name `temporary` in an error by `path`, the name that the caller knows. */
export function inPlaceOf(temporary: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  error.message = error.message.replaceAll(temporary, path);
  if ("path" in error && typeof error.path === "string") {
    Object.assign(error, { path: error.path.replaceAll(temporary, path) });
  }
  return error;
}

/**
 * Creates a file with mode 0600 whose content survives a power failure.
 *
 * @param owner - The status of the file to be replaced, whose owner the new file gets; this process's user
 *   unless given.
 */
export function createPrivateFile(path: string, text: string, owner?: Stats): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    writeFileSync(fd, text);
    // If root changes a service's file, the service must still be able to read it.
    if (owner !== undefined && process.getuid?.() !== owner.uid) {
      fchownSync(fd, owner.uid, owner.gid);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes a string to `path` with mode 0600. At every moment, and after a power failure, the file has either the
 * old or the new content. Leaves no other file behind.
 *
 * @param put - Moves the new file to its name; unless given, `linkSync`, which never overwrites a file.
 * @param owner - The status of the file to be replaced, as for {@link createPrivateFile}.
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
    // Windows and some network file systems cannot sync a directory, and do not need it.
  }
}

/** Removes the temporary files of processes that died while changing `path`, since the files may hold secrets. */
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
    // Another process has just removed the file, or the directory cannot be listed; the next change tries
    // again.
  }
}

/**
 * Describes how users other than the owner can access a file. Returns `undefined` if they cannot access it, and
 * always on Windows.
 */
export function exposureOf({ mode }: Stats): string | undefined {
  if (process.platform === "win32" || (mode & 0o077) === 0) return undefined;
  return `its mode is ${(mode & 0o777).toString(8).padStart(4, "0")}`;
}
