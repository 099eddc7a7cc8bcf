import { isAbsolute, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { type ExitCode, environmentError } from "./exit.js";

/** A source of input: standard input, or the bytes of a test. */
export interface Input {
  readonly isTerminal: boolean;
  /**
   * Waits for bytes, and copies them to `chunk`.
   *
   * @returns The number of bytes; 0 at the end.
   * @throws The operating system's error.
   */
  read(chunk: Uint8Array): number;
}

/** A destination of output. */
export interface Output {
  readonly isTerminal: boolean;
  /** The width of the terminal in characters, if known. */
  readonly columns?: number | undefined;
  /**
   * Writes all bytes synchronously.
   *
   * @returns The operating system's error; `undefined` if all bytes were written.
   */
  write(bytes: Uint8Array): NodeJS.ErrnoException | undefined;
}

/** The parts of a process that a command line uses. Tests pass replacements. */
export interface Surroundings {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /**
   * Returns standard input and output as streams, for commands that wait for several things at once. After that
   * call, `stdin` must not be read, and `stdout` writes through the stream.
   */
  readonly stdio: () => Duplex;
  /**
   * The command that starts this program: absolute paths of Node and of the script. It does not depend on the
   * variable `PATH`.
   */
  readonly program: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  /** The absolute path of the working folder; `undefined` if the folder has been removed. */
  readonly cwd: string | undefined;
  /** The user's home folder. */
  readonly userFolder: string;
  /**
   * Returns an AbortSignal. After the call, the first signal to the process aborts the AbortSignal instead of
   * ending the process.
   */
  readonly untilStopped: () => AbortSignal;
}

/** The surroundings of one command line, and its exit code. */
export interface Context extends Surroundings {
  exitCode: ExitCode;
}

/**
 * Returns the absolute path for a path on the command line.
 *
 * @throws CliError for a relative path if the working folder has been removed.
 */
export function absolutePath({ cwd }: Pick<Surroundings, "cwd">, path: string): string {
  if (isAbsolute(path)) return resolve(path);
  if (cwd !== undefined) return resolve(cwd, path);
  const message = `the folder that this is run in has been removed, and ${path} is relative to it`;
  throw environmentError("folder_removed", message, "change to another, or give absolute paths");
}
