import { closeSync, openSync, readSync } from "node:fs";
import { isatty } from "node:tty";
import { TokenError } from "../src/bytes/token-error.js";
import { decodeUtf8 } from "../src/bytes/utf8.js";
import { environmentError, usageError } from "./exit.js";
import { isErrno, pause, say } from "./output.js";
import { withoutTokens } from "./printable.js";

const STDIN = 0;

// No macaroon comes near this; what is longer was not meant.
const MAX_BYTES = 1024 * 1024;
const RETRY_MILLISECONDS = 10;

/** How a token argument is explained in every verb's help. */
export const TOKEN_HELP = "the token, @FILE, or - for standard input (as when it is left out)";

/**
 * The token an argument stands for: itself, a file's content for `@FILE`, or standard input for `-`
 * and where the argument is left out. White space around what a file or standard input holds is
 * dropped; a token given as such is taken as it is.
 *
 * @throws CliError if there is nothing to read or it can not be read.
 * @throws TokenError if what was read is not text, or too long for any token.
 */
export function readTokenArgument(argument: string | undefined, what = "token"): string {
  if (argument === undefined && isatty(STDIN)) {
    throw usageError(
      `no ${what} is given`,
      `give the ${what} itself, @FILE, or pipe it in: proviso ... < FILE`,
    );
  }
  if (argument === undefined || argument === "-") {
    if (isatty(STDIN)) say(`Reading the ${what} from the terminal; end it with Ctrl-D.`);
    return textFrom(readWhole(STDIN, "standard input"));
  }
  if (!argument.startsWith("@")) return argument;
  const path = argument.slice(1);
  if (path === "") throw usageError("@ is not followed by the name of a file", "write @FILE");
  return textFrom(readFile(path));
}

/**
 * Both tokens of a verb that takes two.
 *
 * @throws CliError also if both are to come from standard input.
 */
export function readTokenArguments(
  first: string,
  second: string | undefined,
): readonly [string, string] {
  if (first === "-" && (second === undefined || second === "-")) {
    throw usageError("only one token can come from standard input", "give the other as @FILE");
  }
  return [readTokenArgument(first, "parent"), readTokenArgument(second, "child")];
}

function textFrom(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text !== undefined) return text.trim();
  const message = "this is not text; a binary macaroon is given as base64url";
  throw new TokenError("utf8_invalid", message);
}

function readFile(path: string): Uint8Array {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    throw isErrno(error) ? unreadable(path, error) : error;
  }
  try {
    return readWhole(fd, path);
  } finally {
    closeSync(fd);
  }
}

function readWhole(fd: number, name: string): Uint8Array {
  const chunk = Buffer.alloc(64 * 1024);
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const count = readSome(fd, chunk, name);
    if (count === 0) return Buffer.concat(chunks);
    length += count;
    if (length > MAX_BYTES) {
      throw new TokenError("too_large", `more than ${MAX_BYTES} bytes; no token is that long`);
    }
    chunks.push(Buffer.from(chunk.subarray(0, count)));
  }
}

function readSome(fd: number, chunk: Buffer, name: string): number {
  for (;;) {
    try {
      return readSync(fd, chunk);
    } catch (error) {
      if (!isErrno(error)) throw error;
      // Windows reports the end of a pipe as an error.
      if (error.code === "EOF") return 0;
      if (error.code !== "EAGAIN") throw unreadable(name, error);
      pause(RETRY_MILLISECONDS);
    }
  }
}

function unreadable(path: string, error: NodeJS.ErrnoException): Error {
  const why: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file",
    EACCES: "it may not be read",
    EISDIR: "it is a folder",
    ENAMETOOLONG: "the name is too long; a token is given without @",
  };
  const code = error.code ?? "it failed";
  const reason = why[code] ?? code;
  const name = path.split("/").map(withoutTokens).join("/");
  return environmentError("unreadable_file", `could not read ${name}: ${reason}`, "check the name");
}
