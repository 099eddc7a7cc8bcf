import { type ChildProcess, type SpawnSyncOptions, spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import type { RevocationEntry } from "../../src/issuer/index.js";
import { type RevocationStore, StorageError } from "../../src/stores/index.js";
import { childProgram } from "../support/children.js";

export const AT = "2026-01-01T00:00:00Z";

/** `true` if file permissions and size limits work as in POSIX. */
export const posix: boolean = process.platform !== "win32";
export const root: boolean = process.getuid?.() === 0;
/** Options for a child process that is subject to file permissions, even if the tests run as root. */
export const unprivileged: { uid?: number; gid?: number } = root ? { uid: 65534, gid: 65534 } : {};

/** Returns the names in a directory, without SQLite's files beside an open database. */
export function namesIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => !/-(wal|shm)$/.test(name));
}

export function capability(id: string): RevocationEntry {
  return { kind: "capability", id, at: AT };
}

/** Adds all entries or none. */
export async function addAll(
  store: RevocationStore,
  entries: readonly RevocationEntry[],
): Promise<void> {
  await store.exclusively(async (add) => {
    for (const entry of entries) await add(entry);
  });
}

/** Returns the StorageError with which `action` fails. */
export async function storageError(action: () => unknown): Promise<StorageError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

export function child(name: string): string {
  return childProgram("stores", name);
}

/** The output of `act.mjs`. */
export interface Act {
  readonly result?: unknown;
  readonly code?: string;
  readonly message?: string;
}

function isAct(value: unknown): value is Act {
  return typeof value === "object" && value !== null;
}

/** Runs `act.mjs` to its end. `options` can name another user, and `before` has options for Node. */
export function act(
  words: readonly string[],
  options: SpawnSyncOptions = {},
  before: readonly string[] = [],
): Act {
  const command = [...before, child("act"), ...words];
  const { stdout, stderr } = spawnSync(process.execPath, command, options);
  return readAct(String(stdout), String(stderr));
}

/** Runs `act.mjs` under a limit on file sizes, in blocks of 1024 bytes. */
export function actWithin(blocks: number, words: readonly string[]): Act {
  const command = 'ulimit -f "$1"; shift; exec "$@"';
  const { stdout, stderr } = spawnSync("bash", [
    "-c",
    command,
    "bash",
    String(blocks),
    process.execPath,
    child("act"),
    ...words,
  ]);
  return readAct(String(stdout), String(stderr));
}

export function readAct(stdout: string, stderr: string): Act {
  try {
    const value: unknown = JSON.parse(stdout);
    if (isAct(value)) return value;
  } catch {
    // The error after this block reports the output.
  }
  throw new Error(`the child process printed ${JSON.stringify(stdout)} and: ${stderr}`);
}

/** A child process whose output is read line by line. */
export class Talker {
  readonly lines: string[] = [];
  readonly process: ChildProcess;
  readonly #closed: Promise<void>;
  #wake: () => void = () => {};
  #errors = "";

  constructor(name: string, words: readonly string[]) {
    const started = spawn(process.execPath, [child(name), ...words], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = started;
    createInterface({ input: started.stdout }).on("line", (line) => {
      this.lines.push(line);
      this.#wake();
    });
    started.stderr.on("data", (text) => {
      this.#errors += String(text);
    });
    this.#closed = new Promise((resolve) => started.on("close", () => resolve()));
  }

  /** Waits until the process has written `count` lines. */
  async until(count: number): Promise<void> {
    while (this.lines.length < count) {
      const line = new Promise<"line">((resolve) => {
        this.#wake = () => resolve("line");
      });
      const event = await Promise.race([line, this.#closed]);
      if (event !== "line" && this.lines.length < count) {
        throw new Error(`the child process ended early: ${this.#errors}`);
      }
    }
  }

  /** Kills the process with a signal that it cannot catch, and waits for the rest of its output. */
  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.#closed;
  }

  /** Waits for the end of the process, and returns its standard error. */
  async end(): Promise<string> {
    await this.#closed;
    return this.#errors;
  }
}
