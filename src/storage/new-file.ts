import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { encodeBase64url } from "../bytes/base64.js";
import { randomBytes } from "../bytes/random.js";

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
