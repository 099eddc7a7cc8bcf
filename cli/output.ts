import { writeSync } from "node:fs";
import { environmentError } from "./exit.js";
import { escapedJson } from "./printable.js";

const STDOUT = 1;
const STDERR = 2;

// The stream may be a pipe that someone else has made non-blocking.
const RETRY_MILLISECONDS = 5;

/**
 * Writes data to standard output, now and whole. Node's own streams report a full disk too late to
 * change the exit code, and cost start-up time.
 *
 * @throws CliError if it can not be written. A reader that has left is no error.
 */
export function printData(text: string): void {
  const failure = write(STDOUT, text);
  if (failure === undefined || failure.code === "EPIPE") return;
  const full = failure.code === "ENOSPC" || failure.code === "EDQUOT";
  throw environmentError(
    "output_failed",
    `could not write to standard output: ${full ? "the disk is full" : failure.message}`,
    full ? "make room, then run it again" : "check where the output goes, then run it again",
  );
}

/** A line of data. */
export function printLine(line: string): void {
  printData(`${line}\n`);
}

/** One JSON document: on one line, or laid out for a terminal. */
export function printJson(value: unknown): void {
  printLine(escapedJson(value));
}

/** A line of talk on standard error. Whatever becomes of it, the command goes on. */
export function say(line: string): void {
  write(STDERR, `${line}\n`);
}

function write(fd: number, text: string): NodeJS.ErrnoException | undefined {
  const bytes = Buffer.from(text, "utf8");
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      if (!isErrno(error)) throw error;
      if (error.code !== "EAGAIN") return error;
      pause(RETRY_MILLISECONDS);
    }
  }
  return undefined;
}

/** Waits without giving up the turn; for the rare non-blocking standard stream. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Whether an error is the operating system's. */
export function isErrno(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
