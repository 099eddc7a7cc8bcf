import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { endianness } from "node:os";
import { PackedIds } from "../../revocation/packed/packed-ids.js";
import { removeAbandoned, syncDirectoryOf, temporaryName } from "../../storage/new-file.js";
import { StorageError, storeError } from "../../storage/storage-error.js";

// A file: a header of nine words (magic, kind, the key's four, the version's two, the number of parts), then of
// each part its length in words and the words, then SHA-256 of all before it. Words are little-endian.

const MAGIC = 0x50_56_49_31; // "PVI1"
const PREFIXES = ["rv_", "cap_"] as const;
const HEADER_WORDS = 9;
const DIGEST_BYTES = 32;

/** Ids with the version of the list that they are from. */
export interface IdSnapshot {
  readonly ids: PackedIds;
  /** The version of the revocation list. */
  readonly version: number;
}

/** Called as parts are written or read; both numbers count parts. */
export type SnapshotProgress = (done: number, of: number) => void;

/**
 * Writes packed ids to a file, mode 0600: whole or not at all at every moment, and past a power cut. It holds
 * the key of the set, so others must not read it.
 *
 * @throws TypeError if the version is not a whole number from 0.
 * @throws StorageError if the file cannot be written.
 */
export function writeIdSnapshot(
  path: string,
  { ids, version }: IdSnapshot,
  progress?: SnapshotProgress,
): void {
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new TypeError("a revocation list's version must be a whole number of at least 0");
  }
  const temporary = temporaryName(path);
  try {
    removeAbandoned(path);
    const fd = openSync(temporary, "wx", 0o600);
    try {
      writeAll(fd, ids, version, progress);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
    syncDirectoryOf(path);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Reads what {@link writeIdSnapshot} wrote. Nothing of it is given before the checksum holds.
 *
 * @throws StorageError `store_corrupt` if the file is not whole or was changed, or why it cannot be read.
 */
export function readIdSnapshot(path: string, progress?: SnapshotProgress): IdSnapshot {
  const corrupt = (detail: string): StorageError =>
    new StorageError("store_corrupt", path, { detail });
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    return readAll(fd, corrupt, progress);
  } catch (error) {
    throw error instanceof StorageError ? error : storeError(error, path);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function writeAll(fd: number, ids: PackedIds, version: number, progress?: SnapshotProgress): void {
  const hash = createHash("sha256");
  const put = (words: Uint32Array): void => {
    const bytes = littleEndian(words);
    hash.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  };
  const parts = ids.partCount;
  const kind = PREFIXES.indexOf(ids.prefix);
  put(Uint32Array.of(MAGIC, kind, ...ids.key, version / 2 ** 32, version, parts));
  let done = 0;
  for (const part of ids.parts()) {
    put(Uint32Array.of(part.length));
    put(part);
    progress?.(++done, parts);
  }
  writeSync(fd, hash.digest());
}

function readAll(
  fd: number,
  corrupt: (detail: string) => StorageError,
  progress: SnapshotProgress | undefined,
): IdSnapshot {
  const hash = createHash("sha256");
  // A length is believed only as far as the file goes.
  const longest = Math.floor(fstatSync(fd).size / 4);
  const take = (words: number): Uint32Array => {
    const bytes = takeBytes(fd, words * 4);
    if (bytes === undefined) throw corrupt("the snapshot ends too soon");
    hash.update(bytes);
    return wordsOf(bytes);
  };
  const header = take(HEADER_WORDS);
  const prefix = PREFIXES[header[1] ?? -1];
  if (header[0] !== MAGIC || prefix === undefined) throw corrupt("it is not a snapshot of ids");
  const ids = new PackedIds(prefix, header.slice(2, 6));
  const version = (header[6] ?? 0) * 2 ** 32 + (header[7] ?? 0);
  if (header[8] !== ids.partCount) throw corrupt("the snapshot has another number of parts");
  for (let at = 0; at < ids.partCount; at++) {
    const length = take(1)[0] ?? 0;
    if (length > longest) throw corrupt("a part of the snapshot is too long");
    if (!ids.fill(at, take(length))) throw corrupt("a part of the snapshot is out of order");
    progress?.(at + 1, ids.partCount);
  }
  checkEnd(fd, hash, corrupt);
  return { ids, version };
}

function checkEnd(fd: number, hash: Hash, corrupt: (detail: string) => StorageError): void {
  const digest = takeBytes(fd, DIGEST_BYTES);
  if (digest === undefined || !hash.digest().equals(digest)) {
    throw corrupt("the checksum of the snapshot is wrong");
  }
  if (readSync(fd, new Uint8Array(1)) !== 0) throw corrupt("the snapshot has more after its end");
}

/** So many bytes; `undefined` where the file ends before. */
function takeBytes(fd: number, length: number): Uint8Array | undefined {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const read = readSync(fd, bytes, at, length - at, null);
    if (read === 0) return undefined;
    at += read;
  }
  return bytes;
}

function littleEndian(words: Uint32Array): Buffer {
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  return endianness() === "LE" ? bytes : Buffer.from(bytes).swap32();
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  if (endianness() !== "LE") Buffer.from(bytes.buffer).swap32();
  return new Uint32Array(bytes.buffer);
}
