// Reads the texts of cards and registries, for the verbs that check and compare them.

import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { duplicateKey, type Json, outlineJson, quotedName } from "../../src/bytes/json.js";
import { decodeUtf8 } from "../../src/bytes/utf8.js";
import { readAddress } from "../../src/client/address.js";
import { MAX_CARD_BYTES } from "../../src/discovery/card-text.js";
import { errorCode, isErrno, reasonFor } from "../../src/system/error-code.js";
import { absolutePath, type Context } from "../context.js";
import { CliError, EXIT, environmentError, usageError } from "../exit.js";
import { say } from "../output.js";
import { fetchCardText } from "../remote/client.js";
import type { CardOptions } from "../remote/options.js";

/** The help for the argument `card`, in every verb that also accepts a card from a file. */
export const CARD_HELP = "a file, - for standard input, or the address of an agent or of its card";

/** The name of standard input in messages. */
export const STDIN = "standard input";

export interface CardText {
  /** The URL, the file or {@link STDIN}, for messages. */
  readonly name: string;
  readonly text: string;
}

/** Tests whether an argument for a card is a URL rather than a file. */
export function isAddress(argument: string): boolean {
  return /^https?:\/\//i.test(argument);
}

/**
 * Reads a card: from the network if the argument begins with `https://` or `http://`, otherwise as {@link
 * cardFileText} does.
 *
 * @throws CliError if the card cannot be read or is too large.
 */
export async function readCardText(
  context: Context,
  argument: string,
  options: CardOptions,
): Promise<CardText> {
  if (!isAddress(argument)) return cardFileText(context, argument);
  const { text, card } = await fetchCardText(context, argument, options);
  return { name: card.href, text };
}

/**
 * Reads a card from a file, or from standard input for `-`.
 *
 * @throws CliError if the card cannot be read, is not UTF-8, or is larger than `MAX_CARD_BYTES`.
 */
export function cardFileText(context: Context, argument: string): CardText {
  if (argument === "") throw usageError("the name of the card is empty", "name a file or a URL");
  // A URL without a scheme, or with a scheme other than HTTP and HTTPS, gets its own message.
  const isLikeAddress = /^[\w.-]+:(\/\/|\d+)/.test(argument);
  if (isLikeAddress && !existsSync(absolutePath(context, argument))) readAddress(argument);
  return fileText(
    context,
    argument,
    "name a card's file, or an address that begins with https:// or http://",
  );
}

/**
 * Parses a card.
 *
 * @throws CliError if the text is not JSON, or if an object in it has a duplicate property.
 */
export function jsonIn({ name, text }: CardText): Json {
  const cardError = (what: string): CliError => {
    const hint = `proviso card lint ${name === STDIN ? "-" : name} shows where`;
    const message = `${name}: ${what}`;
    return new CliError({ code: "card_malformed", message, exitCode: EXIT.malformed, hint });
  };
  // JSON.parse could fail on a text that is nested far deeper than this limit. No real card comes near the
  // limit.
  if (outlineJson(text).depth > 10_000) throw cardError("it is nested too deep");
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    throw cardError("this is not JSON");
  }
  const twice = duplicateKey(text);
  if (twice === undefined) return value;
  throw cardError(`it has the property ${quotedName(twice.key)} twice`);
}

/**
 * Reads a file, or standard input for `-`.
 *
 * @param hint - The hint if the file cannot be read.
 * @throws CliError if the text cannot be read, is not UTF-8, or is larger than `MAX_CARD_BYTES`.
 */
export function fileText(context: Context, argument: string, hint: string): CardText {
  const name = argument === "-" ? STDIN : argument;
  const unreadable = (why: string): CliError =>
    environmentError("file_unreadable", `${name}: ${why}`, hint);
  try {
    const bytes =
      argument === "-" ? stdinBytes(context) : fileBytes(absolutePath(context, argument));
    if (bytes === undefined) throw unreadable("it is a folder");
    if (bytes.length > MAX_CARD_BYTES) {
      throw unreadable(`it is larger than ${MAX_CARD_BYTES} bytes`);
    }
    const text = decodeUtf8(bytes);
    if (text === undefined) throw unreadable("this is not UTF-8, as JSON must be");
    return { name, text };
  } catch (error) {
    if (!isErrno(error) || error instanceof CliError) throw error;
    throw unreadable(reasonFor(errorCode(error), "read"));
  }
}

function stdinBytes(context: Context): Uint8Array {
  const { stdin } = context;
  if (stdin.isTerminal) say(context, "Reading from the terminal; end it with Ctrl-D.");
  return allBytes((chunk) => stdin.read(chunk));
}

/** Reads the bytes of a file; `undefined` for a folder. */
function fileBytes(path: string): Uint8Array | undefined {
  const fd = openSync(path, "r");
  try {
    if (fstatSync(fd).isDirectory()) return undefined;
    return allBytes((chunk) => readSync(fd, chunk));
  } finally {
    closeSync(fd);
  }
}

/** Reads all bytes, but stops one byte past the limit. The size of a pipe is not known in advance. */
function allBytes(read: (chunk: Uint8Array) => number): Uint8Array {
  const bytes = Buffer.alloc(MAX_CARD_BYTES + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.length; length += count) {
    count = read(bytes.subarray(length));
  }
  return bytes.subarray(0, length);
}
