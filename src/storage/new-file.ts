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

/** Milliseconds after which a file of an unfinished change belongs to a process that died. */
const ABANDONED = 60_000;
/** SQLite, too, keeps a file beside that of a database which is being made. */
const TEMPORARY = /\.tmp(-journal)?$/;

/** A name in the directory of `path` for what is to take its place; nothing else has it. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${encodeBase64url(randomBytes(9))}.tmp`);
}

/** Makes an error that names `temporary` name `path` instead, which is what the caller asked for. */
export function inPlaceOf(temporary: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  error.message = error.message.replaceAll(temporary, path);
  if ("path" in error && typeof error.path === "string") {
    Object.assign(error, { path: error.path.replaceAll(temporary, path) });
  }
  return error;
}

/**
 * Makes a file, mode 0600, whose content survives a power cut.
 *
 * @param owner - Of the file whose place it is to take; this process unless given.
 */
export function createPrivateFile(path: string, text: string, owner?: Stats): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    writeFileSync(fd, text);
    // Root may change a service's file; the service must still be able to read it.
    if (owner !== undefined && process.getuid?.() !== owner.uid) {
      fchownSync(fd, owner.uid, owner.gid);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Puts a text at `path`, mode 0600: whole or not at all at every moment, and past a power cut. Nothing
 * is left beside it.
 *
 * @param put - Gives the new file its name: `linkSync`, which never overwrites, unless given.
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
    // Windows and some network file systems cannot do this for a directory, and need not.
  }
}

/** Removes what processes that died amid a change of `path` left beside it: it may hold secrets. */
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
    // Another process has just removed one, or the directory cannot be listed; the next change tries.
  }
}

/** How a file is open to others than its owner, in words; `undefined` if it is not, and on Windows. */
export function exposureOf({ mode }: Stats): string | undefined {
  if (process.platform === "win32" || (mode & 0o077) === 0) return undefined;
  return `its mode is ${(mode & 0o777).toString(8).padStart(4, "0")}`;
}
