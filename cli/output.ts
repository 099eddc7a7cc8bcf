import type { Context, Output } from "./context.js";
import { environmentError } from "./exit.js";
import { escapedJson } from "./printable.js";

/**
 * Writes data to standard output, now and whole.
 *
 * @throws CliError if it can not be written. A reader that has left is no error.
 */
export function printData({ stdout }: Context, text: string): void {
  const failure = write(stdout, text);
  if (failure === undefined || failure.code === "EPIPE") return;
  const full = failure.code === "ENOSPC" || failure.code === "EDQUOT";
  const message = `could not write to standard output: ${full ? "the disk is full" : failure.message}`;
  const remedy = full ? "make room" : "check where the output goes";
  throw environmentError("output_failed", message, `${remedy}, then run it again`);
}

/** A line of data. */
export function printLine(context: Context, line: string): void {
  printData(context, `${line}\n`);
}

/** One JSON document: on one line, or laid out for a terminal. */
export function printJson(context: Context, value: unknown): void {
  printLine(context, escapedJson(value));
}

/** A line of talk on standard error. Whatever becomes of it, the command goes on. */
export function say({ stderr }: Context, line: string): void {
  write(stderr, `${line}\n`);
}

/** Talk in place of the last of it, on a terminal's same line. */
export function sayOver({ stderr }: Context, text: string): void {
  write(stderr, `\r${text}`);
}

function write(output: Output, text: string): NodeJS.ErrnoException | undefined {
  return output.write(Buffer.from(text, "utf8"));
}
