// Extracts tokens from what usually surrounds them: a header's value, quotes, JSON written by this command, or
// a file with one token on each line.

import { isJsonObject, type Json } from "../src/bytes/json.js";
import { CliError, EXIT } from "./exit.js";

/**
 * Returns the token in a string that contains more: quotes around it, `Bearer` before it, JSON written by this
 * command, or several tokens, one per line. The library and HTTP only accept a bare token.
 *
 * @param choice - Which of several tokens, counted from 1.
 * @param source - The beginning of a choice in hints, such as `@tokens`.
 * @throws CliError if there are several and none is chosen, or fewer than the chosen number.
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
 * Returns the tokens in a text, as {@link tokenIn} finds them.
 *
 * @returns At least one string, which is empty if there is no token.
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
 * Matches the beginning of a macaroon in base64. The continuation line of a token that was broken into lines
 * does not match.
 */
function beginsToken(line: string): boolean {
  return /^(?:Ag[E-L]|MDAx)/.test(bare(line));
}

/** Returns the tokens in JSON written by this command: a single one, or a list of capabilities. */
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
