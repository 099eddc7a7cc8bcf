// What people have a token in: a header's value, quotes, JSON of this command, or a file with one on each line.

import { isJsonObject, type Json } from "../src/bytes/json.js";
import { CliError, EXIT } from "./exit.js";

/**
 * The token in a text that may be more than a token: quotes around it, `Bearer` before it, JSON that this
 * command has written, or several tokens, one a line. The library and HTTP take nothing but a token.
 *
 * @param choice - Which of several, from 1.
 * @param source - How a choice is written, such as `@tokens`, in advice.
 * @throws CliError if there are several and none is chosen, or not so many.
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
 * The tokens in a text, as {@link tokenIn} finds them.
 *
 * @returns Never empty; an empty text for what holds nothing.
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

/** As a macaroon begins in base64, which the rest of a token that is broken over lines does not. */
function beginsToken(line: string): boolean {
  return /^(?:Ag[E-L]|MDAx)/.test(bare(line));
}

/** The tokens in JSON as this command writes it: one, or a list of capabilities. */
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
