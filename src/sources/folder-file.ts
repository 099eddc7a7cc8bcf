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

/** Milliseconds after which a further change of a file is sure to show in its times. */
const SETTLED = 2000;
// Not blocking: opening a named pipe would wait for its writer. Windows has neither.
const FLAGS: number =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR", "ELOOP"];

/** A file that is open for reading. */
export interface OpenFile {
  /** What changes whenever the file does. */
  readonly signature: string;
  /** Whether it has been left alone for long enough to rely on that. */
  readonly settled: boolean;
  /** Bytes. */
  readonly size: number;
  /** The first bytes, at most so many. */
  read(most: number): Uint8Array;
}

/**
 * Opens a regular file that is really at `path`, with no symbolic link on the way, and hands it to
 * `use`; `undefined` if it does not exist. Throws what the system does if it cannot be read.
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
    // What counts is what was opened: a folder on the way may have been swapped for a link.
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

/** Whether a path leads to something, has no symbolic link in it, and is spelled as it is on disk. */
export function isReal(path: string): boolean {
  return orAbsent(() => realpathSync.native(path)) === path;
}

/**
 * What `look` finds, or `undefined` where the system says that nothing is there, or only a link. Every
 * other failure is thrown: it says nothing about what is there.
 */
export function orAbsent<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (ABSENT.includes(errorCode(error))) return undefined;
    throw error;
  }
}

/** Removes the file at `path`, so that it stays removed. */
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
