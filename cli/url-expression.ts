import type { UrlLimit } from "../src/caveats/hop.js";
import { readWrittenUrls } from "../src/caveats/written-urls.js";
import { splitList } from "./argument-value.js";
import type { Expression } from "./expression.js";
import { quoted, withoutTokens } from "./output.js";

const FORMS =
  "write it like https://api.example.com/v1, https://*.example.com for every host below example.com, " +
  "or several with commas between";

/**
 * Parses the URLs of a limit, separated by commas.
 *
 * @throws CliError that shows a correct URL.
 */
export function readUrls({ subject, operator, rest, expressionError }: Expression): UrlLimit {
  const items = splitList(rest);
  const read = readWrittenUrls(items.map(unquoted), FORMS);
  if (read.ok) return read.limit;
  const { problem, hint, place, nearest } = read.mistake;
  if (nearest === undefined) throw expressionError(problem, hint);
  const corrected = nearest.includes(",") ? quoted(nearest) : nearest;
  const list = items.map((item, at) => (at === place ? corrected : item)).join(",");
  throw expressionError(problem, `write '${withoutTokens(`${subject} ${operator} ${list}`)}'`);
}

function unquoted(text: string): string {
  return /^"[^"\\]*"$/.test(text) ? text.slice(1, -1) : text;
}
