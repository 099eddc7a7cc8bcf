import type { Hop } from "../src/caveats/hop.js";
import { EVERY_OPERATION } from "../src/caveats/operation-authority.js";
import { readValue, splitList } from "./argument-value.js";
import { type ExpressionError, errorAbout, QUOTED, type Wording } from "./expression.js";
import { operationFrom } from "./operation-expression.js";
import { quoted, withoutTokens } from "./output.js";

const CLOSED: Wording = {
  option: "--only-args",
  it: "this operation",
  forms: "write it like to,amount or, for one operation, like pay:to,amount",
};

/**
 * Parses closed lists of arguments: `to,amount` for every operation, `pay:to,amount` for the operation `pay`,
 * `pay:` for an empty list. Several expressions for the same operation make one list.
 *
 * @throws CliError that shows a correct expression.
 */
export function readClosedLists(texts: readonly string[]): NonNullable<Hop["arguments"]> {
  const lists = new Map<string, readonly string[]>();
  for (const text of texts) {
    const expressionError = errorAbout(CLOSED, text);
    const quotedOperation = QUOTED.exec(text);
    const start = quotedOperation?.[0].length ?? 0;
    const colon = text.indexOf(":", start);
    const comma = text.indexOf(",", start);
    const hasOperation = colon !== -1 && (comma === -1 || colon < comma);
    const given = hasOperation ? text.slice(0, colon) : EVERY_OPERATION;
    const rest = hasOperation ? text.slice(colon + 1).trim() : text;
    if (quotedOperation === null && hasOperation) refuseFurtherColon(text, rest, expressionError);
    const operation = operationFrom(given, expressionError);
    const before = hasOperation ? `${given.trim()}:` : "";
    const names = hasOperation && rest === "" ? [] : namesFrom(rest, before, expressionError);
    lists.set(operation, [...new Set([...(lists.get(operation) ?? []), ...names])]);
  }
  return Object.fromEntries(lists);
}

/** Refuses an operation with a colon that is not in double quotes. */
function refuseFurtherColon(text: string, rest: string, expressionError: ExpressionError): void {
  const [first = ""] = splitList(rest);
  if (!first.includes(":") || first.startsWith('"')) return;
  const last = text.lastIndexOf(":", text.length - rest.length + first.length - 1);
  const whole = `${JSON.stringify(text.slice(0, last).trim())}${text.slice(last)}`;
  const problem = "it is not clear which colon ends the operation";
  throw expressionError(problem, `put the operation in double quotes: '${withoutTokens(whole)}'`);
}

/** @param before - The operation with its colon, as written; for hints. */
function namesFrom(
  text: string,
  before: string,
  expressionError: ExpressionError,
): readonly string[] {
  const items = splitList(text);
  const isMiswritten = (item: string): boolean => !item.startsWith('"') && /[*:<>=]/.test(item);
  return items.map((item) => {
    if (item === "") throw expressionError("a name is missing", CLOSED.forms);
    const name = item.startsWith('"') ? readValue(item, expressionError) : item;
    if (typeof name === "string" && !isMiswritten(item)) return name;
    const literal = items.map((one) => (isMiswritten(one) ? JSON.stringify(one) : one)).join(",");
    const hint = `for an argument of this very name, write '${withoutTokens(`${before}${literal}`)}'`;
    throw expressionError(`${quoted(item)} is not the name of an argument`, hint);
  });
}
