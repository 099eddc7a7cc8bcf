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

/** Milliseconds after which another change of a file is certain to change its timestamps. */
const SETTLED = 2000;
// Non-blocking: opening a named pipe would wait for its writer. Windows has neither flag.
const FLAGS: number =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR", "ELOOP"];

/** A file opened for reading. */
export interface OpenFile {
  /** A stamp that changes whenever the file does. */
  readonly signature: string;
  /** True if the file has been unchanged for long enough to trust the stamp. */
  readonly settled: boolean;
  /** Size in bytes. */
  readonly size: number;
  /** Reads at most this many bytes from the start. */
  read(most: number): Uint8Array;
}

/**
 * Opens a regular file at exactly `path`, without a symbolic link on the way, and passes it to `use`;
 * `undefined` if it does not exist. Throws the system's error if it cannot be read.
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
    // Checks the opened file: a folder on the way may have been replaced by a link.
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
 * Returns the result of `look`, or `undefined` if the system says that there is nothing, or only a link.
 * Rethrows every other error, which does not show that nothing is there.
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
