import { styleText } from "node:util";
import { escapedJson } from "../src/display/printable.js";
import type { Context, Output } from "./context.js";
import { environmentError } from "./exit.js";

export { escapedJson, printable } from "../src/display/printable.js";

// What the command writes, and how: data and talk, text from a token or a file made safe to show, colours,
// and rows. A terminal acts on control characters, and direction marks make text read as something it is
// not, so neither reaches it raw.

/**
 * Writes data to standard output, now and whole.
 *
 * @throws CliError if it cannot be written. A reader that has left is no error.
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

/** One JSON document: on one line, or laid out for a terminal. */
export function printJson(context: Context, value: unknown): void {
  printLine(context, escapedJson(value));
}

/** A line of talk on standard error. Whatever becomes of it, the command goes on. */
export function say({ stderr }: Context, line: string): void {
  write(stderr, `${line}\n`);
}

/** Talk in place of the last of it, on a terminal's same line. */
export function sayOver({ stderr }: Pick<Context, "stderr">, text: string): void {
  write(stderr, `\r${text}`);
}

function write(output: Output, text: string): NodeJS.ErrnoException | undefined {
  return output.write(Buffer.from(text, "utf8"));
}

/** Prints what a verb answers: one JSON document where `--json` asks for it, else lines for people. */
export function printAnswer(
  context: Context,
  { json }: { readonly json?: boolean },
  document: unknown,
  lines: readonly string[],
): void {
  printLine(context, json === true ? escapedJson(document) : lines.join("\n"));
}

/** The text as a quoted JSON string without unsafe characters. */
export function quoted(text: string): string {
  return escapedJson(text);
}

export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}

// Long enough for a kid or a handle, shorter than any signature in any encoding.
const TOKEN_LIKE = /[A-Za-z0-9_+/=-]{41,}/g;

/** The text with whatever could be a token or a key cut down to its first characters. */
export function withoutTokens(text: string): string {
  return text.replace(TOKEN_LIKE, (run) => `${run.slice(0, 8)}...`);
}

/** Colours for one stream, or the text as it is where colours are not wanted. */
export type Paint = Readonly<
  Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>
>;

/**
 * Colours only for a terminal. `NO_COLOR` (any value) and `TERM=dumb` turn them off, `FORCE_COLOR`
 * turns them on where nothing has turned them off.
 */
export function stdoutPaint({ env, stdout }: Context): Paint {
  return paintIf(wantsColour(env, stdout.isTerminal));
}

/** Colours for what goes to standard error, by the same rules. */
export function stderrPaint({ env, stderr }: Context): Paint {
  return paintIf(wantsColour(env, stderr.isTerminal));
}

function wantsColour(env: Context["env"], terminal: boolean): boolean {
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
    // Whether the stream takes colours is decided above; Node would look at its own.
    colour ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
  };
}

/** A label and what stands beside it. Every text is safe to show. */
export type Row = readonly [label: string, text: string];

/** Rows in two columns, below one another. */
export function renderRows(rows: readonly Row[], paint: Paint, indent = ""): string[] {
  const width = Math.max(0, ...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `${indent}${paint.dim(label.padEnd(width))}  ${text}`);
}
