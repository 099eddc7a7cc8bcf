import type { Hop } from "../src/caveats/hop.js";
import { EVERY_OPERATION } from "../src/caveats/operation-authority.js";
import { readValue, splitList } from "./argument-value.js";
import { type ExpressionError, errorAbout, QUOTED, type Wording } from "./expression.js";
import { operationFrom } from "./operation-expression.js";
import { quoted } from "./output.js";

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
    const operation = operationFrom(given, expressionError);
    const rest = hasOperation ? text.slice(colon + 1).trim() : text;
    const names = hasOperation && rest === "" ? [] : namesFrom(rest, expressionError);
    lists.set(operation, [...new Set([...(lists.get(operation) ?? []), ...names])]);
  }
  return Object.fromEntries(lists);
}

function namesFrom(text: string, expressionError: ExpressionError): readonly string[] {
  return splitList(text).map((item) => {
    if (item === "") throw expressionError("a name is missing", CLOSED.forms);
    const name = item.startsWith('"') ? readValue(item, expressionError) : item;
    const isPlain = typeof name === "string" && (item !== name || !/[*:<>=]/.test(name));
    if (isPlain) return name;
    const hint = `for an argument of this very name, write '${JSON.stringify(item)}'`;
    throw expressionError(`${quoted(item)} is not the name of an argument`, hint);
  });
}
