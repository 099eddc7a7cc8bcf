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

/**
 * If the last change of a file is at least this many milliseconds old, every further change gives the file a
 * different timestamp.
 */
const SETTLED = 2000;
// Without O_NONBLOCK, opening a named pipe would wait for its writer. Windows lacks O_NOFOLLOW and O_NONBLOCK.
const FLAGS: number =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR", "ELOOP"];

/** A file that is open for reading. */
export interface OpenFile {
  /** A string that changes whenever the file changes, except perhaps if the file changes twice in a short time. */
  readonly signature: string;
  /** True if the last change is old enough that `signature` is certain to differ after the next change. */
  readonly settled: boolean;
  /** Size in bytes. */
  readonly size: number;
  /** Reads the first bytes of the file, at most `most`. */
  read(most: number): Uint8Array;
}

/**
 * Opens the regular file at exactly `path`, and passes it to `use`. Returns `undefined` if there is no such
 * file, or if a part of the path is a symbolic link. Throws the operating system's error if the file cannot be
 * read.
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
    // Check the file that is now open: a folder in its path may have been replaced by a link in the meantime.
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

/** Returns whether a path exists, contains no symbolic link, and has the same spelling as on the disk. */
export function isReal(path: string): boolean {
  return orAbsent(() => realpathSync.native(path)) === path;
}

/**
 * Returns the result of `look`; `undefined` if the operating system reports that there is nothing at the path,
 * or only a link. Rethrows every other error, since the path may then exist.
 */
export function orAbsent<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (ABSENT.includes(errorCode(error))) return undefined;
    throw error;
  }
}

/** Removes the file at `path`, and waits until the removal is on the disk. */
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
