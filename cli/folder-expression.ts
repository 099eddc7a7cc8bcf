import { isPath, segmentsOf } from "../src/caveats/path-form.js";
import { splitList } from "./argument-value.js";
import type { Expression } from "./expression.js";
import { word } from "./limit-words.js";
import { quoted, withoutTokens } from "./output.js";

const FORM = "write a folder like /data or reports/2026, without .. and without a final /";

/**
 * Returns the folder of a limit.
 *
 * @throws CliError that shows a correct folder.
 */
export function readFolder({ subject, expressionError }: Expression, folder: string): string {
  if (isPath(folder)) return folder;
  const near = nearestFolder(folder);
  const hint =
    near === undefined ? FORM : `write '${withoutTokens(`${subject} under ${word(near)}`)}'`;
  throw expressionError(`${quoted(folder)} is not a folder`, hint);
}

/** Returns the folder that a path means: without empty segments, `.` and a final `/`. */
function nearestFolder(text: string): string | undefined {
  const folder = `${text.startsWith("/") ? "/" : ""}${segmentsOf(text).join("/")}`;
  return isPath(folder) ? folder : undefined;
}

/**
 * Refuses an unquoted list after an operator that takes one value.
 *
 * @param what - The kind of value, for messages.
 */
export function refuseList(
  { subject, operator, rest, expressionError }: Expression,
  what: string,
): void {
  if (splitList(rest).length === 1) return;
  const literal = withoutTokens(`${subject} ${operator} ${quoted(rest)}`);
  const hint = `make a token for each ${what}; for this very text, write '${literal}'`;
  throw expressionError(`a limit has one ${what}; a comma does not separate two`, hint);
}
