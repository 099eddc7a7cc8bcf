import type { UrlLimit } from "../src/caveats/hop.js";
import { readWrittenUrls } from "../src/caveats/written-urls.js";
import { splitList } from "./argument-value.js";
import type { Expression } from "./expression.js";

const FORMS =
  "write it like https://api.example.com/v1, https://*.example.com for every host below example.com, " +
  "or several with commas between";

/**
 * Parses the URLs of a limit, separated by commas.
 *
 * @throws CliError that shows a correct URL.
 */
export function readUrls({ rest, expressionError }: Expression): UrlLimit {
  const read = readWrittenUrls(splitList(rest).map(unquoted), FORMS);
  if (read.ok) return read.limit;
  throw expressionError(read.mistake.problem, read.mistake.hint);
}

function unquoted(text: string): string {
  return /^"[^"\\]*"$/.test(text) ? text.slice(1, -1) : text;
}
