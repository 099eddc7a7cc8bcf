import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { syncDirectoryOf } from "../storage/new-file.js";
import { errorCode } from "../system/error-code.js";
import { stampOf } from "../system/file-stamp.js";

/** Milliseconds after a change until a further change is certain to have a different timestamp. */
const SETTLED = 2000;
// Non-blocking: opening a named pipe would wait for its writer. Windows has neither flag.
const FLAGS: number =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR", "ELOOP"];

/** A file that is open for reading. */
export interface OpenFile {
  /** A stamp that differs after any change of the file. */
  readonly signature: string;
  /** True if the file has not changed for long enough that the stamp can be trusted. */
  readonly settled: boolean;
  /** Size in bytes. */
  readonly size: number;
  /** Reads at most this many bytes from the start. */
  read(most: number): Uint8Array;
}

/**
 * Opens the regular file at exactly `path` and passes it to `use`. Follows no symbolic links. `undefined` if it
 * does not exist. Throws the system's error if it cannot be read.
 */
export function withFile<T>(path: string, use: (file: OpenFile) => T): T | undefined {
  const fd = orAbsent(() =>
    lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
      ? openSync(path, FLAGS)
      : undefined,
  );
  if (fd === undefined) return undefined;
  try {
    const stat = fstatSync(fd, { bigint: true });
    const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    // Check the opened file: a folder in its path may have been replaced by a link.
    const same = there?.ino === stat.ino && there.dev === stat.dev;
    if (!stat.isFile() || !same || !isReal(path)) return undefined;
    return use({
      signature: stampOf(stat),
      settled: Date.now() - Number(stat.ctimeMs) > SETTLED,
      size: Number(stat.size),
      read: (most) => readStart(fd, most),
    });
  } finally {
    closeSync(fd);
  }
}

/** Returns whether a path exists, contains no symbolic link, and is spelled as on disk. */
export function isReal(path: string): boolean {
  return orAbsent(() => realpathSync.native(path)) === path;
}

/**
 * Returns the result of `look`; `undefined` if the system says that nothing, or only a link, is there. Rethrows
 * every other error, since nothing is known then.
 */
export function orAbsent<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (ABSENT.includes(errorCode(error))) return undefined;
    throw error;
  }
}

/** Removes the file at `path` durably. */
export function removeFile(path: string): void {
  rmSync(path);
  syncDirectoryOf(path);
}

function readStart(fd: number, most: number): Uint8Array {
  const bytes = new Uint8Array(most);
  let length = 0;
  while (length < most) {
    const read = readSync(fd, bytes, length, most - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
