import { createHash, type Hash } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { endianness } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { checkedRevocation } from "../../revocation/entry.js";
import type { IdPrefix } from "../../revocation/packed/id-words.js";
import { PackedIds } from "../../revocation/packed/packed-ids.js";
import { type PackedEntry, PackedTable } from "../../revocation/packed/packed-table.js";

// A file: magic; the loose entries as JSON, with their length in bytes before; then the links and the
// capabilities, of each the key's four words and of each part its length in words and the words. Words are
// little-endian. It has no checksum of its own: the database has it.

const MAGIC = 0x50_56_4c_31; // "PVL1"

/** Called with the part that is done, from 0 to 1. */
export type Progress = (part: number) => void;

/** Thrown for a file that is not one of these, or not one that is known. */
class NotAListFile extends Error {
  constructor() {
    super("the file is not a revocation list that the database knows");
  }
}

/**
 * Writes what a table holds to a new file, mode 0600, and past a power cut. It holds the keys of the packed ids,
 * so others must not read it.
 *
 * @returns SHA-256 of the file, in base64url.
 * @throws Error of the operating system.
 */
export async function writeListFile(path: string, table: PackedTable): Promise<string> {
  const fd = openSync(path, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    const put = (bytes: Uint8Array): void => {
      hash.update(bytes);
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    };
    const loose = Buffer.from(JSON.stringify(Array.from(table.loose(), looseRow)));
    put(littleEndian(Uint32Array.of(MAGIC, loose.length)));
    put(loose);
    for (const ids of [table.links, table.capabilities]) {
      put(littleEndian(ids.key));
      for (const part of ids.parts()) {
        put(littleEndian(Uint32Array.of(part.length)));
        put(littleEndian(part));
        await nextTurn();
      }
    }
    fsyncSync(fd);
    return hash.digest("base64url");
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads what {@link writeListFile} wrote.
 *
 * @param isKnown - Whether a digest is of such a file. Nothing is given, and no text is read, where it is not.
 * @throws NotAListFile
 * @throws Error of the operating system.
 */
export async function readListFile(
  path: string,
  isKnown: (digest: string) => boolean,
  progress: Progress,
): Promise<PackedTable> {
  const fd = openSync(path, "r");
  try {
    const reader = new Reader(fd);
    const [magic, length = 0] = reader.words(2);
    if (magic !== MAGIC) throw new NotAListFile();
    const loose = reader.bytes(length);
    const links = await reader.ids("rv_", (part) => progress(part / 2));
    const capabilities = await reader.ids("cap_", (part) => progress((1 + part) / 2));
    const table = new PackedTable(links, capabilities);
    if (!isKnown(reader.end())) throw new NotAListFile();
    const entries: unknown = JSON.parse(loose.toString());
    if (!Array.isArray(entries)) throw new NotAListFile();
    for (const entry of entries) table.add(looseEntry(entry));
    return table;
  } finally {
    closeSync(fd);
  }
}

/** Reads a file from its start to its end. */
class Reader {
  readonly #fd: number;
  readonly #hash: Hash = createHash("sha256");
  /** Bytes that are left: no length is believed beyond that. */
  #left: number;

  constructor(fd: number) {
    this.#fd = fd;
    this.#left = fstatSync(fd).size;
  }

  bytes(length: number): Buffer {
    if (length > this.#left) throw new NotAListFile();
    this.#left -= length;
    // A buffer of its own, so that words are aligned.
    const bytes = Buffer.from(new ArrayBuffer(length));
    for (let at = 0; at < length; ) {
      const read = readSync(this.#fd, bytes, at, length - at, null);
      if (read === 0) throw new NotAListFile();
      at += read;
    }
    this.#hash.update(bytes);
    return bytes;
  }

  words(count: number): Uint32Array {
    const bytes = this.bytes(4 * count);
    if (endianness() !== "LE") bytes.swap32();
    return new Uint32Array(bytes.buffer);
  }

  async ids(prefix: IdPrefix, progress: Progress): Promise<PackedIds> {
    const ids = new PackedIds(prefix, this.words(4));
    for (let at = 0; at < ids.partCount; at++) {
      const [words = 0] = this.words(1);
      if (!ids.fill(at, this.words(words))) throw new NotAListFile();
      progress((at + 1) / ids.partCount);
      await nextTurn();
    }
    return ids;
  }

  /** The digest of the whole file. */
  end(): string {
    if (this.#left > 0) throw new NotAListFile();
    return this.#hash.digest("base64url");
  }
}

/** A name may have half of a surrogate pair, which JSON escapes. */
function looseRow({ kind, id, record: { before, until } }: PackedEntry): unknown[] {
  return [kind, id, before ?? null, until ?? null];
}

function looseEntry(value: unknown): PackedEntry {
  if (!Array.isArray(value)) throw new NotAListFile();
  const [kind, id, before, until]: readonly unknown[] = value;
  const record = { before: timeIn(before), until: timeIn(until), at: 0, reason: undefined };
  return checkedRevocation(kind, id, record);
}

/** `null` for none. */
function timeIn(value: unknown): number | undefined {
  if (value === null) return undefined;
  if (Number.isSafeInteger(value)) return Number(value);
  throw new NotAListFile();
}

function littleEndian(words: Uint32Array): Buffer {
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  return endianness() === "LE" ? bytes : Buffer.from(bytes).swap32();
}
