import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import type { HopInit } from "../../src/caveats/hop.js";
import type { FailedCall } from "../../src/protocols/mcp/learn/call-outcomes.js";
import type { LearnedLimits } from "../../src/protocols/mcp/learn/learned-limits.js";
import { errorCode, reasonFor } from "../../src/system/error-code.js";
import { absolutePath, type Context } from "../context.js";
import { CliError, environmentError, usageError } from "../exit.js";
import { closedListExpression, limitExpressions, nameList } from "../limit-words.js";
import { cut, printable, quoted } from "../output.js";
import { addRestrictions, restrictionsFrom } from "../restrictions.js";
import { refuseRepeats, toText } from "../verb.js";
import { assertGateOperations, GATE_KEYS } from "./gate-names.js";
import { leftOutText } from "./learned-words.js";

// A request says what a token should allow, in words that a person can edit. Each line is an option of `proviso mcp
// token` with its value, without the quotes that a shell needs. Lines that begin with # are comments.

export interface TokenRequest {
  readonly grant?: string | undefined;
  readonly principal?: string | undefined;
  readonly anyOp?: boolean | undefined;
  readonly restrictions: HopInit;
}

interface RequestOptions {
  readonly grant?: string;
  readonly principal?: string;
  readonly anyOp?: boolean;
}

/** The first lines of a request file. */
interface RequestHead {
  readonly grant: string;
  readonly expires: string | undefined;
  /** Lines of the comment at the top. */
  readonly heading: readonly string[];
}

/** Longest text of a failed call's arguments, and of its error, in UTF-16 code units. */
const SHOWN = 200;
/** Maximum number of failed calls in a request. */
const MOST_FAILED = 100;

/** Writes learned limits as a request, with the calls that failed as comments. */
export function requestText(
  { hop, calls, open, leftOut }: LearnedLimits,
  failed: readonly FailedCall[],
  { grant, expires, heading }: RequestHead,
): string {
  const lines = [...heading.map(comment), "", `--grant ${grant}`];
  if (expires !== undefined) lines.push(`--expires ${expires}`);
  for (const [operation, count] of calls) {
    const constraints = hop?.operationConstraints?.[operation];
    const names = hop?.arguments?.[operation] ?? [];
    const free = open.filter((one) => one.operation === operation);
    lines.push(
      "",
      comment(`${printable(operation)}: ${count === 1 ? "one call" : `${count} calls`}`),
      `--op ${nameList([operation])}`,
      `--only-args ${closedListExpression(operation, names)}`,
      ...(constraints === undefined
        ? []
        : limitExpressions({ [operation]: constraints }).map((one) => `--arg ${one}`)),
      ...free.map(({ argument, isElements }) => {
        const subject = isElements ? `elements of ${argument}` : argument;
        return comment(`${printable(subject)} may have any value`);
      }),
    );
  }
  if (leftOut.length > 0) lines.push("", comment("Seen, but not allowed:"));
  lines.push(...leftOut.map((one) => comment(`  ${leftOutText(one)}`)));
  lines.push(...failedLines(failed));
  return `${lines.join("\n")}\n`;
}

function failedLines(failed: readonly FailedCall[]): readonly string[] {
  if (failed.length === 0) return [];
  const listed = failed.slice(0, MOST_FAILED).map(({ operation, arguments: given, reason }) => {
    const words = `${operation} ${cut(JSON.stringify(given), SHOWN)}: ${cut(reason, SHOWN)}`;
    return comment(`  ${printable(words)}`);
  });
  const rest = failed.length - listed.length;
  return [
    "",
    comment("Calls that failed, from which nothing is learned:"),
    ...listed,
    ...(rest === 0 ? [] : [comment(`  and ${rest} more`)]),
  ];
}

function comment(text: string): string {
  return `# ${text}`;
}

/**
 * Reads a request from one or more files, whose limits are joined. Several files are for a gate with several servers:
 * each file has the operations of one server.
 *
 * @throws CliError that names the file and, if possible, the line.
 */
export async function readRequest(
  context: Context,
  files: readonly string[],
): Promise<TokenRequest> {
  const joined = new Map<string, unknown>();
  for (const file of files) {
    for (const [name, value] of Object.entries(await optionsIn(context, file))) {
      const before = joined.get(name);
      if (Array.isArray(before) && Array.isArray(value)) joined.set(name, [...before, ...value]);
      else if (before === undefined || before === value) joined.set(name, value);
      else {
        const message = `${printable(file)}: another file has another --${name}`;
        throw usageError(message, "write the same in each file, or in one alone");
      }
    }
  }
  const options: RequestOptions = Object.fromEntries(joined);
  const { grant, principal, anyOp } = options;
  return { grant, principal, anyOp, restrictions: await restrictionsFrom(options) };
}

async function optionsIn(context: Context, file: string): Promise<RequestOptions> {
  const { options } = requestCommand();
  const words: string[] = [];
  for (const [at, line] of readLines(context, file).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const place = `${printable(file)}, line ${at + 1}`;
    const [, flag = "", value = ""] = /^\s*(\S+)\s*(.*?)\s*$/.exec(line) ?? [];
    const option = options.find(({ long }) => long === flag);
    if (option === undefined) {
      const known = options.map(({ long }) => long).join(", ");
      const message = `${place}: ${quoted(flag)} is not an option of a request`;
      throw usageError(message, `each line begins with one of ${known}, or with #`);
    }
    if (/^'.*'$/.test(value) || (flag === "--arg" && /^"[^"]*"$/.test(value))) {
      const message = `${place}: the value of ${flag} is in quotes`;
      throw usageError(message, "this file has no quotes of a shell: leave them out");
    }
    const word = value === "" && !option.required ? flag : `${flag}=${value}`;
    await namingPlace(place, async () =>
      assertGateOperations(await restrictionsFrom(parsed([word]))),
    );
    words.push(word);
  }
  return namingPlace(printable(file), () => parsed(words));
}

/** Returns a command that has the options of a request. */
function requestCommand(): Command {
  const command = new Command("request")
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} })
    .helpOption(false)
    .option("--grant <grant>", "", toText)
    .option("--principal <user>", "", toText)
    .option("--any-op");
  addRestrictions(command, { keys: GATE_KEYS });
  refuseRepeats(command);
  return command;
}

/** @throws CliError if an option has no value, or comes twice. */
function parsed(words: readonly string[]): RequestOptions {
  try {
    return requestCommand().parse(words, { from: "user" }).opts<RequestOptions>();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const hint = "each line is an option with its value, without the quotes of a shell";
    throw usageError(error.message.replace(/^error: /, ""), hint);
  }
}

/** Adds a file, or a line of it, to the message of an error. */
async function namingPlace<T>(place: string, call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof CliError ? error.at(place) : error;
  }
}

function readLines(context: Context, file: string): readonly string[] {
  try {
    return readFileSync(absolutePath(context, file), "utf8")
      .replace(/^\ufeff/, "")
      .split(/\r?\n/);
  } catch (error) {
    const message = `could not read ${printable(file)}: ${reasonFor(errorCode(error), "read")}`;
    throw environmentError(
      "input_unreadable",
      message,
      "check the name of the file, and its permissions",
    );
  }
}
