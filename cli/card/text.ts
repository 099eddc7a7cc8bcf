// cli/card/: what is done with a card beside showing it: checking one, and comparing two.

import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { isErrno } from "../../src/bytes/error-code.js";
import { type Json, outlineJson } from "../../src/bytes/json.js";
import { readAddress } from "../../src/client/address.js";
import { MAX_CARD_BYTES } from "../../src/discovery/card-text.js";
import type { Context } from "../context.js";
import { CliError, EXIT, environmentError, usageError } from "../exit.js";
import { fetchCardText } from "../remote/client.js";
import type { CardOptions } from "../remote/options.js";

/** How a card is explained in the help of every verb that takes one from a file too. */
export const CARD_HELP = "a file, or the address of an agent or of its card";

export interface CardText {
  readonly name: string;
  readonly text: string;
}

/** Whether an argument that names a card is an address, and no file. */
export function isAddress(argument: string): boolean {
  return /^https?:\/\//i.test(argument);
}

/**
 * Reads a card: from the network if the argument begins with `https://` or `http://`, else from a file.
 *
 * @throws CliError if it cannot be read, or is too large.
 */
export async function readCardText(
  context: Context,
  argument: string,
  options: CardOptions,
): Promise<CardText> {
  if (isAddress(argument)) {
    const { text, card } = await fetchCardText(context, argument, options);
    return { name: card.href, text };
  }
  return { name: argument, text: cardFileText(context, argument) };
}

/** The text of a card's file. @throws CliError if it cannot be read, or is larger than a card may be. */
export function cardFileText({ cwd }: Context, argument: string): string {
  if (argument === "") throw usageError("the name of the card is empty", "name a file or a URL");
  const path = resolve(cwd, argument);
  // An address without its scheme, or with another one, is said to be that.
  if (/^[\w.-]+:(\/\/|\d+)/.test(argument) && !existsSync(path)) readAddress(argument);
  return fileText(path, argument);
}

/** @throws CliError if the text is not JSON. */
export function jsonIn({ name, text }: CardText): Json {
  const refuse = (what: string): CliError => {
    const hint = `proviso card lint ${name} shows where`;
    const message = `${name}: ${what}`;
    return new CliError({ code: "card_malformed", message, exitCode: EXIT.malformed, hint });
  };
  // Said before the parser works on it; no card comes near.
  if (outlineJson(text).depth > 10_000) throw refuse("it is nested too deep");
  try {
    return JSON.parse(text);
  } catch {
    throw refuse("this is not JSON");
  }
}

const CARD_HINT = "name a card's file, or an address that begins with https:// or http://";

/** The text of a file as large as a card may be. @throws CliError if it cannot be read, or is larger. */
export function fileText(path: string, name: string, hint: string = CARD_HINT): string {
  const unreadable = (why: string): Error =>
    environmentError("file_unreadable", `${name}: ${why}`, hint);
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    if (fstatSync(fd).isDirectory()) throw unreadable("it is a folder");
    // What is no file, such as a pipe, has no size until it has been read.
    const bytes = Buffer.alloc(MAX_CARD_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(fd, bytes, length, bytes.length - length, null);
    }
    if (length > MAX_CARD_BYTES) throw unreadable(`it is larger than ${MAX_CARD_BYTES} bytes`);
    return bytes.toString("utf8", 0, length);
  } catch (error) {
    if (!isErrno(error) || error.name === "CliError") throw error;
    throw unreadable(error.code === "ENOENT" ? "there is no such file" : error.message);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
