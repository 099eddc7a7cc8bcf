import {
  closeSync,
  createReadStream,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { isJsonObject, type Json } from "../../../bytes/json.js";
import { linesOf } from "../../../bytes/line-splitter.js";
import { decodeUtf8 } from "../../../bytes/utf8.js";

/** One line of a session. The file of a recording has one such object, as JSON, on each line. */
export interface RecordedLine {
  /** The time at which the line was passed on, as `Date.toISOString` writes it. */
  readonly time: string;
  readonly from: "host" | "server";
  /** The line without its line feed and without tokens. */
  readonly text: string;
}

/** Longest line of a recording, in bytes: a message of 4 MiB, each byte of which is written as a JSON escape. */
const MAX_LINE = 6 * 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** A recording that is being written: a file of mode 0600, to which each line is appended immediately. */
export class RecordingFile {
  readonly #path: string;
  readonly #fd: number;

  /**
   * Opens a file, or creates it. Keeps the contents of the file.
   *
   * @throws Error of the system
   */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, "a+", 0o600);
    if (process.platform !== "win32") fchmodSync(this.#fd, 0o600);
    const { size } = fstatSync(this.#fd);
    const last = Buffer.alloc(1);
    // If an earlier recording was killed, its last line may be incomplete. The new recording begins on a new line.
    if (size > 0 && readSync(this.#fd, last, 0, 1, size - 1) === 1 && last[0] !== LINE_FEED) {
      writeSync(this.#fd, "\n");
    }
  }

  /** @throws Error of the system, such as `ENOSPC` */
  append(line: RecordedLine): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    let written = 0;
    while (written < bytes.length) written += writeSync(this.#fd, bytes, written);
  }

  /** Closes the file, and removes it if it is empty. */
  close(): void {
    const { size } = fstatSync(this.#fd);
    closeSync(this.#fd);
    if (size === 0) rmSync(this.#path, { force: true });
  }
}

/**
 * Yields the lines of a recording; `undefined` for each malformed line of the file.
 *
 * @throws Error of the system
 */
export async function* readRecording(path: string): AsyncGenerator<RecordedLine | undefined> {
  for await (const line of linesOf(createReadStream(path), MAX_LINE)) {
    yield line.kind === "line" ? recordedLine(line.bytes) : undefined;
  }
}

function recordedLine(bytes: Uint8Array): RecordedLine | undefined {
  let value: Json;
  try {
    value = JSON.parse(decodeUtf8(bytes) ?? "");
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { time, from, text } = value;
  if (typeof time !== "string" || typeof text !== "string") return undefined;
  return from === "host" || from === "server" ? { time, from, text } : undefined;
}
