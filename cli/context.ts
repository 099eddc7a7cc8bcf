import { isAbsolute, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { type ExitCode, environmentError } from "./exit.js";

/** Where a command reads from: standard input, or bytes that a test has. */
export interface Input {
  readonly isTerminal: boolean;
  /**
   * Waits for some bytes and puts them into `chunk`.
   *
   * @returns How many there are; 0 at the end.
   * @throws The operating system's error.
   */
  read(chunk: Uint8Array): number;
}

/** Where a command writes to. */
export interface Output {
  readonly isTerminal: boolean;
  /** The width of the terminal, in characters, where it is known. */
  readonly columns?: number | undefined;
  /** Writes all of it at once. @returns The operating system's error, if there is one. */
  write(bytes: Uint8Array): NodeJS.ErrnoException | undefined;
}

/** What a command line is run with: all that it has of the process, or of the test, that runs it. */
export interface Surroundings {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /**
   * Standard input and output as streams, for commands that wait for several things at once. Once it has
   * been called, `stdin` is no longer read, and what `stdout` writes goes the same way.
   */
  readonly stdio: () => Duplex;
  readonly env: { readonly [name: string]: string | undefined };
  /** The folder that relative paths start from, absolute; `undefined` if it has been removed. */
  readonly cwd: string | undefined;
  /** The user's own folder. */
  readonly userFolder: string;
  /** From the first call on, signals no longer end the process: the first one aborts what this gives. */
  readonly untilStopped: () => AbortSignal;
}

/** The surroundings of one command line, and how it is to end. */
export interface Context extends Surroundings {
  exitCode: ExitCode;
}

/**
 * The absolute path that a path on the command line means.
 *
 * @throws CliError for a relative one where the working folder has been removed.
 */
export function absolutePath({ cwd }: Pick<Surroundings, "cwd">, path: string): string {
  if (isAbsolute(path)) return resolve(path);
  if (cwd !== undefined) return resolve(cwd, path);
  const message = `the folder that this is run in has been removed, and ${path} is relative to it`;
  throw environmentError("folder_removed", message, "change to another, or give absolute paths");
}
