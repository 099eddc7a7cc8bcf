import { styleText } from "node:util";
import { escapedJson } from "../src/display/printable.js";
import type { Context, Output } from "./context.js";
import { environmentError } from "./exit.js";

export { escapedJson, printable } from "../src/display/printable.js";

// Writes data and messages, colours and rows, and makes strings from tokens or files safe to display. Control
// characters make a terminal act, and direction marks change the order in which text is displayed. Both are
// always escaped.

/**
 * Writes data to standard output, synchronously and completely.
 *
 * @throws CliError if the data cannot be written. If the reader has closed the pipe, that is not an error.
 */
export function printData({ stdout }: Context, text: string): void {
  const failure = write(stdout, text);
  if (failure === undefined || failure.code === "EPIPE") return;
  const full = failure.code === "ENOSPC" || failure.code === "EDQUOT";
  const message = `could not write to standard output: ${full ? "the disk is full" : failure.message}`;
  const remedy = full ? "make room" : "check where the output goes";
  throw environmentError("output_failed", message, `${remedy}, then run it again`);
}

export function printLine(context: Context, line: string): void {
  printData(context, `${line}\n`);
}

/** Writes a JSON document to standard output. */
export function printJson(context: Context, value: unknown): void {
  printLine(context, escapedJson(value));
}

/** Writes a message to standard error. If that fails, the command continues. */
export function say({ stderr }: Context, line: string): void {
  write(stderr, `${line}\n`);
}

/** Writes a message over the last message, on the same line of a terminal. */
export function sayOver({ stderr }: Pick<Context, "stderr">, text: string): void {
  write(stderr, `\r${text}`);
}

function write(output: Output, text: string): NodeJS.ErrnoException | undefined {
  return output.write(Buffer.from(text, "utf8"));
}

/** Prints the answer of a verb: one JSON document with `--json`, otherwise lines for people. */
export function printAnswer(
  context: Context,
  { json }: { readonly json?: boolean },
  document: unknown,
  lines: readonly string[],
): void {
  printLine(context, json === true ? escapedJson(document) : lines.join("\n"));
}

/** Returns a string in quotes, as JSON without unsafe characters. */
export function quoted(text: string): string {
  return escapedJson(text);
}

/** Returns a string as it is if it matches `bare` and is not JSON, such as `12` or `true`; otherwise in quotes. */
export function quotedUnless(bare: RegExp, text: string): string {
  return bare.test(text) && !isJson(text) ? text : quoted(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}

// Matches a run of at least 41 characters. Key ids and handles are shorter; every encoded signature is longer.
const TOKEN_LIKE = /[A-Za-z0-9_+/=-]{41,}/g;

/** Shortens every run of characters that could be a token or a key to its first 8 characters. */
export function withoutTokens(text: string): string {
  return text.replace(TOKEN_LIKE, (run) => `${run.slice(0, 8)}...`);
}

/** Functions that add colours. If the stream gets no colours, they return the text unchanged. */
export type Paint = Readonly<
  Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>
>;

/**
 * Returns the colours for standard output. `NO_COLOR` turns colours off. Otherwise `FORCE_COLOR` decides: `0` and
 * `false` turn colours off, any other value turns them on. Otherwise a terminal has colours, unless `TERM` is `dumb`.
 * An empty `NO_COLOR` or `FORCE_COLOR` counts as unset.
 */
export function stdoutPaint({ env, stdout }: Context): Paint {
  return paintIf(wantsColour(env, stdout.isTerminal));
}

/** Returns the colours for standard error, by the same rules as {@link stdoutPaint}. */
export function stderrPaint({ env, stderr }: Context): Paint {
  return paintIf(wantsColour(env, stderr.isTerminal));
}

export function wantsColour(env: Context["env"], terminal: boolean): boolean {
  if (isSet(env["NO_COLOR"])) return false;
  const forced = env["FORCE_COLOR"];
  if (isSet(forced)) return forced !== "0" && forced !== "false";
  return terminal && env["TERM"] !== "dumb";
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}

function paintIf(colour: boolean): Paint {
  const paint = (format: keyof Paint) => (text: string) =>
    // `wantsColour` has decided already; Node would check its own stream.
    colour ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
  };
}

/** A label and a value, both of which are safe to display. */
export type Row = readonly [label: string, text: string];

/** Formats rows in two columns. */
export function renderRows(rows: readonly Row[], paint: Paint, indent = ""): string[] {
  const width = Math.max(0, ...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `${indent}${paint.dim(label.padEnd(width))}  ${text}`);
}
