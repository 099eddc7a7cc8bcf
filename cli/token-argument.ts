import { closeSync, openSync, readSync, statSync } from "node:fs";
import { encodeBase64url } from "../src/bytes/base64.js";
import { TokenError } from "../src/bytes/token-error.js";
import { decodeUtf8 } from "../src/bytes/utf8.js";
import { CAPABILITY_LIMITS } from "../src/capability/limits.js";
import { readToken } from "../src/capability/read-token.js";
import { errorCode, isErrno, reasonFor } from "../src/system/error-code.js";
import { absolutePath, type Context } from "./context.js";
import { CliError, EXIT, environmentError, usageError } from "./exit.js";
import { say, withoutTokens } from "./output.js";
import { tokenIn, tokensIn } from "./token-text.js";

// No macaroon is nearly this large.
const MAX_BYTES = 1024 * 1024;

/** Hints for a file that cannot be read, by error code of the operating system. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "check the name",
  ENOTDIR: "check the name",
  EACCES: "check its permissions",
  EPERM: "check its permissions",
  EISDIR: "name a file in it",
  ENAMETOOLONG: "give a token as it is, without @",
};

/** The help for a token argument, which is the same in every verb. */
export const TOKEN_HELP =
  "the token, @FILE (@FILE:2 for the second in it), or - for standard input (as when it is left out)";

/**
 * Returns the token of an argument. The argument is the token itself, `@FILE` for the contents of a file,
 * `@FILE:2` for the second token in a file, or `-` for standard input; standard input is also the default.
 * Removes quotes and other text around the token; see {@link tokenIn}.
 *
 * @throws CliError if there is no input, if the input cannot be read, or if it is obviously not a token.
 * @throws TokenError if the input is binary, or too long for any token.
 */
export function readTokenArgument(
  context: Context,
  argument: string | undefined,
  what = "token",
): string {
  const { text, choice, source } = readText(context, argument, what);
  return tokenIn(text, choice, source);
}

/**
 * Reads an argument as {@link readTokenArgument} does, for a macaroon of any kind. A file or standard input may
 * also contain the bytes of a macaroon, such as lnd's `admin.macaroon`.
 *
 * @throws As {@link readTokenArgument} does.
 */
export function readMacaroonArgument(context: Context, argument: string | undefined): string {
  const { text, choice, source } = readText(context, argument, "token", "base64url");
  return tokenIn(text, choice, source);
}

/**
 * Reads an argument as {@link readTokenArgument} does, but returns all its tokens.
 *
 * @throws As {@link readTokenArgument} does.
 */
export function readTokensArgument(
  context: Context,
  argument: string | undefined,
): readonly string[] {
  const { text, choice, source } = readText(context, argument, "token");
  return choice === undefined ? tokensIn(text) : [tokenIn(text, choice, source)];
}

/**
 * Returns the text of `@FILE` or `-`, without surrounding white space.
 *
 * @throws As {@link readTokenArgument} does.
 */
export function readTextArgument(context: Context, argument: string, what: string): string {
  return readText(context, argument, what).text;
}

interface ReadText {
  readonly text: string;
  /** The number of the chosen token, counted from 1. */
  readonly choice?: number;
  readonly source?: string;
}

/** The treatment of binary input: an error, or conversion to base64url. */
type Binary = "refused" | "base64url";

function readText(
  context: Context,
  argument: string | undefined,
  what: string,
  binary: Binary = "refused",
): ReadText {
  const { stdin } = context;
  if (argument === undefined && stdin.isTerminal) {
    const hint = `give the ${what} itself, @FILE, or pipe it in: proviso ... < FILE`;
    throw usageError(`no ${what} is given`, hint);
  }
  if (argument === undefined || argument === "-") {
    if (stdin.isTerminal)
      say(context, `Reading the ${what} from the terminal; end it with Ctrl-D.`);
    return { text: textFrom("standard input", (chunk) => stdin.read(chunk), binary) };
  }
  if (!argument.startsWith("@")) {
    if (!isFile(context, argument)) return { text: argument };
    throw notToken(
      "this is the name of a file, not a token",
      `there is a file ${argument}: write @${argument}`,
    );
  }
  const given = argument.slice(1);
  if (given === "") throw usageError("@ is not followed by the name of a file", "write @FILE");
  const { path, choice } = chosenIn(context, given);
  const text = namingSource(argument, () => fileText(absolutePath(context, path), path, binary));
  return { text, source: `@${path}`, choice };
}

/** Splits off the number after a file's name, unless there is a file with the whole name. */
function chosenIn(
  context: Context,
  given: string,
): { readonly path: string; readonly choice?: number } {
  const [, path, choice] = /^(.+):([1-9]\d{0,3})$/s.exec(given) ?? [];
  if (path === undefined || isFile(context, given)) return { path: given };
  return { path, choice: Number(choice) };
}

/**
 * Calls a function that parses the token of an argument. If the function throws, adds the file's name to the
 * error.
 *
 * @param otherwise - The name to add if the token does not come from a file; by default, none is added.
 */
export function namingSource<T>(
  argument: string | undefined,
  call: () => T,
  otherwise?: string,
): T {
  try {
    return call();
  } catch (error) {
    const source = argument?.startsWith("@") ? nameOf(argument.slice(1)) : otherwise;
    if (source === undefined) throw error;
    if (error instanceof TokenError) {
      throw new TokenError(error.code, `${source}: ${error.message}`, error.offset);
    }
    if (!(error instanceof CliError && error.exitCode === EXIT.malformed)) throw error;
    throw error.at(source);
  }
}

/**
 * Checks that each token of an argument is in the form in which capabilities are presented, before the tokens are
 * used or sent anywhere.
 *
 * @throws TokenError as {@link readToken} does, with the file's name if the tokens come from a file.
 */
export function assertPresentable(argument: string | undefined, tokens: readonly string[]): void {
  namingSource(argument, () => {
    for (const token of tokens) readToken(token, CAPABILITY_LIMITS);
  });
}

function isFile(context: Context, path: string): boolean {
  try {
    return statSync(absolutePath(context, path)).isFile();
  } catch {
    return false;
  }
}

function notToken(message: string, hint: string | undefined): CliError {
  return new CliError({ code: "format_unknown", message, exitCode: EXIT.malformed, hint });
}

/**
 * Returns the two tokens of a verb that takes two.
 *
 * @throws CliError as {@link readTokenArgument} does, and if both tokens would come from standard input.
 */
export function readTokenArguments(
  context: Context,
  first: string,
  second: string | undefined,
): readonly [string, string] {
  if (first === "-" && (second === undefined || second === "-")) {
    throw usageError("only one token can come from standard input", "give the other as @FILE");
  }
  const parent = readTokenArgument(context, first, "parent");
  const child = readTokenArgument(context, second, "child");
  if (second !== undefined || child !== "") return [parent, child];
  const hint = "give the narrowed one too, as @FILE or on standard input";
  throw usageError("this takes two tokens, and one is given", hint);
}

function fileText(path: string, name: string, binary: Binary): string {
  let fd: number | undefined;
  const read = (chunk: Uint8Array): number => {
    fd ??= openSync(path, "r");
    return readSync(fd, chunk);
  };
  try {
    return textFrom(name, read, binary);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Reads a text, and removes white space at both ends. An error of the operating system gets the source's name. */
function textFrom(name: string, read: (chunk: Uint8Array) => number, binary: Binary): string {
  const chunk = Buffer.alloc(64 * 1024);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for (let count = read(chunk); count > 0; count = read(chunk)) {
      length += count;
      if (length > MAX_BYTES) {
        throw new TokenError("too_large", `more than ${MAX_BYTES} bytes; no token is that long`);
      }
      chunks.push(Buffer.from(chunk.subarray(0, count)));
    }
  } catch (error) {
    if (error instanceof TokenError || !isErrno(error)) throw error;
    const code = errorCode(error);
    const message = `could not read ${nameOf(name)}: ${reasonFor(code, "read")}`;
    throw environmentError("unreadable_file", message, UNREADABLE[code] ?? "check the file");
  }
  const bytes = Buffer.concat(chunks);
  const text = decodeUtf8(bytes);
  if (text !== undefined) return text.trim();
  if (binary === "base64url") return encodeBase64url(bytes);
  const message =
    "this is not text; if it is a macaroon in binary, convert it: proviso convert @FILE --to v2";
  throw new TokenError("utf8_invalid", message);
}

function nameOf(path: string): string {
  return path.split("/").map(withoutTokens).join("/");
}
