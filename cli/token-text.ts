// Extracts tokens from the text around them, such as `Bearer`, quotes, or JSON written by this command. A file
// may also have one token on each line.

import { isJsonObject, type Json } from "../src/bytes/json.js";
import { CliError, EXIT } from "./exit.js";

/**
 * Returns the token in a string that contains more: quotes, `Bearer` before the token, JSON written by this
 * command, or several tokens, one per line. The library and HTTP accept only a token without such text.
 *
 * @param choice - The number of the wanted token, counted from 1.
 * @param source - The source's name, such as `@tokens`, for hints about the choice.
 * @throws CliError if there are several tokens and `choice` is absent, or if there are fewer than `choice`
 *   tokens.
 */
export function tokenIn(text: string, choice?: number, source = "@FILE"): string {
  const tokens = tokensIn(text);
  const [only = ""] = tokens;
  if (choice === undefined && tokens.length <= 1) return only;
  const token = choice === undefined ? undefined : tokens[choice - 1];
  if (token !== undefined) return token;
  const message =
    choice === undefined
      ? `these are ${tokens.length} tokens, one a line`
      : `there is no token ${choice}: ${tokens.length === 1 ? "there is one" : `there are ${tokens.length}`}`;
  const hint = `choose one by its number: ${source}:${tokens.length < 2 ? 1 : 2}`;
  throw new CliError({ code: "token_ambiguous", message, exitCode: EXIT.usage, hint });
}

/**
 * Returns the tokens in a text. It extracts them as {@link tokenIn} does.
 *
 * @returns At least one string. If there is no token, the only string is empty.
 */
export function tokensIn(text: string): readonly string[] {
  if (text.startsWith("{") || text.startsWith("[")) {
    const held = heldBy(text);
    if (held !== undefined && held.length > 0) return held;
  }
  const lines = text.split("\n").map((line) => line.trim());
  const filled = lines.filter((line) => line !== "");
  return filled.length > 1 && filled.every(beginsToken) ? filled.map(bare) : [bare(text)];
}

/**
 * Returns whether a line begins with a macaroon in base64. If a token was broken into several lines, its
 * further lines do not match.
 */
function beginsToken(line: string): boolean {
  return /^(?:Ag[E-L]|MDAx)/.test(bare(line));
}

/** Returns the tokens in JSON written by this command: a single token, or a list of capabilities. */
function heldBy(text: string): readonly string[] | undefined {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const objects = isJsonObject(value) ? [value] : (value as readonly Json[]);
  const listed = objects.flatMap((one) => {
    const { capabilities } = isJsonObject(one) ? one : {};
    return Array.isArray(capabilities) ? capabilities : [one];
  });
  return listed.flatMap((one: Json) => {
    const token = isJsonObject(one) ? one["token"] : undefined;
    return typeof token === "string" ? [token] : [];
  });
}

function bare(text: string): string {
  const unquoted = /^(["'])(.*)\1$/s.exec(text)?.[2] ?? text;
  return unquoted.replace(/^bearer\s+/i, "");
}
