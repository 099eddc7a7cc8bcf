import { EVERY_OPERATION } from "../src/caveats/operation-authority.js";
import { readValue } from "./argument-value.js";
import { type ExpressionError, OPERATOR, QUOTED } from "./expression.js";
import { withoutTokens } from "./output.js";

/** Matches the operators that need an operation in front of the limit. */
const WORD_OPERATOR =
  /(?<!\s)\s+(?:under|at|begins\s+with)(?=\s|$)|(?<!\s)\s+each(?=[\s<>=]|$)|(?<!\s)\s+absent\s*$|(?<!\s)\s+items(?=\s*[<>=!])/;

/** The operators of {@link WORD_OPERATOR}. */
export const WORDS: readonly string[] = ["absent", "at", "begins with", "each", "items", "under"];

/** Matches every operator of a limit. */
export const ANY_OPERATOR: RegExp = new RegExp(`${OPERATOR.source}|${WORD_OPERATOR.source}`);

/** An expression, split into its operation and the remaining text. */
export interface Split {
  /** The operation, or `*` for every operation; absent if none is written. */
  readonly operation?: string;
  /** The operation with its colon, as written. */
  readonly before: string;
  readonly rest: string;
}

/** Splits off the operation: the part before the first colon, if the colon comes before the first operator. */
export function splitOperation(text: string, expressionError: ExpressionError): Split {
  const quotedName = /^\s*"(?:[^"\\]|\\.)*"\s*:(?!=)/.exec(text)?.[0];
  if (quotedName !== undefined) {
    const operation = operationFrom(quotedName.slice(0, -1), expressionError);
    return { operation, before: quotedName.trimStart(), rest: text.slice(quotedName.length) };
  }
  const start = QUOTED.exec(text)?.[0].length ?? 0;
  const found = ANY_OPERATOR.exec(text.slice(start));
  if (start > 0 || found === null) return { before: "", rest: text };
  const head = text.slice(0, found.index);
  const colon = head.indexOf(":");
  const after = head.slice(colon + 1).trim();
  // In "to:=x", the colon is a part of another language's operator.
  if (colon === -1 || (after === "" && found[0] === "=")) return { before: "", rest: text };
  if (after.includes(":") && !/^\??\s*"/.test(after)) {
    const last = head.lastIndexOf(":");
    const names = `${JSON.stringify(head.slice(0, last).trim())}${text.slice(last)}`;
    const problem = "it is not clear which colon ends the operation";
    throw expressionError(problem, `put the operation in double quotes: '${withoutTokens(names)}'`);
  }
  const operation = operationFrom(head.slice(0, colon), expressionError);
  return { operation, before: text.slice(0, colon + 1).trim(), rest: text.slice(colon + 1) };
}

/** Parses the name of an operation, or `*` for every operation. */
export function operationFrom(text: string, expressionError: ExpressionError): string {
  const bare = text.trim();
  const operation = bare.startsWith('"') ? readValue(bare, expressionError) : bare;
  if (typeof operation !== "string" || operation === "") {
    throw expressionError("the operation's name is missing", "write * for every operation");
  }
  if (operation === bare && operation.includes("*") && operation !== EVERY_OPERATION) {
    const hint = `name each operation, or write * for every one; for this very name, write '${JSON.stringify(bare)}'`;
    throw expressionError("there are no patterns of operations", hint);
  }
  return operation;
}
