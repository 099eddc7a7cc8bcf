import { isJsonObject, type Json } from "../src/bytes/json.js";
import { isScalar, type Scalar } from "../src/caveats/scalar.js";
import { readValue, splitList } from "./argument-value.js";
import { type CliError, usageError } from "./exit.js";
import { quoted, withoutTokens } from "./output.js";

/** Words for messages about the expressions of one option. */
export interface Wording {
  readonly option: string;
  readonly it: string;
  /** The accepted forms of an expression. */
  readonly forms: string;
}

/** Returns an error about one expression. */
export type ExpressionError = (problem: string, hint?: string) => CliError;

/** An expression split at its operator. */
export interface Expression {
  /** The text before the operator, as written; for hints. */
  readonly subject: string;
  readonly name: string;
  /** True if the name is in double quotes, so that it is taken literally. */
  readonly isQuoted: boolean;
  readonly operator: string;
  readonly rest: string;
  readonly expressionError: ExpressionError;
}

/** Matches the operators of filters, of arguments, and of limits that apply to every operation. */
export const OPERATOR: RegExp =
  /<=|>=|!=|==|=|<|>|(?<!\s)\s+not\s+in(?=[\s[]|$)|(?<!\s)\s+in(?=[\s[]|$)/;

/** Operators that compare numbers, and their names in a hop. */
export const BOUNDS: Readonly<Record<string, "min" | "max">> = { "<=": "max", ">=": "min" };

/** Matches a string in double quotes at the beginning of a text. */
export const QUOTED: RegExp = /^\s*("(?:[^"\\]|\\.)*")/;

/** Matches a name that ends with a part of another language's operator: `path~=x`, `path*=x`. */
const MISWRITTEN = /[~^$*:]$/;

/** Returns a function that makes errors about one expression of an option. */
export function errorAbout({ option }: Wording, text: string): ExpressionError {
  return (problem, hint) => usageError(`${option} ${quoted(text)}: ${problem}`, hint);
}

/**
 * Splits an expression at its first operator.
 *
 * @param operators - Matches every operator that the expression may have.
 * @param before - The part of the whole expression that comes before `text`; for hints.
 * @throws CliError if the expression has no operator or no name, or has an operator of another language.
 */
export function splitExpression(
  { forms }: Wording,
  text: string,
  expressionError: ExpressionError,
  {
    operators = OPERATOR,
    before = "",
  }: { readonly operators?: RegExp; readonly before?: string } = {},
): Expression {
  const quotedName = QUOTED.exec(text);
  const start = quotedName?.[0].length ?? 0;
  const found = operators.exec(text.slice(start));
  if (found === null) throw expressionError("there is no operator", forms);
  const from = start + found.index;
  const bare = text.slice(0, from).trim();
  const isQuoted = quotedName?.[1] === bare;
  const name = isQuoted ? readValue(bare, expressionError) : bare;
  if (typeof name !== "string" || name === "") {
    throw expressionError("the argument's name is missing", forms);
  }
  const operator = found[0].trim().replace(/\s+/, " ");
  const rest = text.slice(from + found[0].length).trim();
  return { subject: `${before}${bare}`, name, isQuoted, operator, rest, expressionError };
}

/** Refuses operators of other languages: `<`, `~=`, `!=`, `==`. */
export function refuseOthers(expression: Expression): void {
  const { subject, name, isQuoted, operator, rest, expressionError } = expression;
  if (operator === "<" || operator === ">") {
    throw expressionError(`there is no ${operator}`, `use ${operator}=, which includes the value`);
  }
  const sign = MISWRITTEN.exec(name)?.[0];
  if (operator === "=" && sign !== undefined && !isQuoted) {
    const before = subject.slice(0, subject.length - name.length);
    throw expressionError(`there is no ${sign}=`, literally(`${before}${quoted(name)}=${rest}`));
  }
}

/**
 * Reads the value after `=`. An unquoted value that looks like an operator or a pattern is refused. Such a
 * value would be compared literally, and no call would match it.
 *
 * @param instead - Returns the expression that a pattern probably means; `undefined` if no expression has that
 *   meaning.
 */
export function equalValue(
  expression: Expression,
  instead?: (pattern: string) => string | undefined,
): Json {
  const { subject, rest, expressionError } = expression;
  const sign = /^[<>~]/.exec(rest)?.[0];
  if (sign !== undefined) {
    const hint = literally(`${subject}=${quoted(rest)}`);
    throw expressionError(`there is no =${sign}`, sign === "~" ? hint : `use ${sign}=; ${hint}`);
  }
  return valueFrom(expression, rest, instead);
}

/**
 * Reads a value as JSON, or as a string if it is not JSON. An unquoted value that looks like a pattern is
 * refused.
 *
 * @param instead - Returns the expression that a pattern probably means; `undefined` if no expression has that
 *   meaning.
 * @param whole - Everything after the operator, with patterns in double quotes; for the hint.
 */
export function valueFrom(
  { subject, operator, expressionError }: Expression,
  text: string,
  instead?: (pattern: string) => string | undefined,
  whole: string = quoted(text),
): Json {
  const value = readValue(text, expressionError);
  if (typeof value !== "string" || !isPattern(text)) return value;
  const space = operator === "=" ? "" : " ";
  const literal = literally(`${subject}${space}${operator}${space}${whole}`);
  const other = instead?.(value);
  const hint = other === undefined ? literal : `write '${withoutTokens(other)}'; ${literal}`;
  throw expressionError("there are no patterns: * would stand for itself", hint);
}

function isPattern(text: string): boolean {
  return text.includes("*") && !text.startsWith('"');
}

/** Returns a hint that shows how to quote a literal string. */
function literally(expression: string): string {
  return `for this very text, write '${withoutTokens(expression)}'`;
}

export function numberFrom({ operator, rest, expressionError }: Expression): number {
  const value = readValue(rest, expressionError);
  if (typeof value === "number") return value;
  throw expressionError(`${quoted(rest)} is not a number`, `${operator} compares numbers`);
}

/** Reads values that are separated by commas. */
function listedValues(expression: Expression): readonly Json[] {
  const items = splitList(expression.rest);
  const whole = items.map((item) => (isPattern(item) ? quoted(item) : item)).join(",");
  return items.map((item) => valueFrom(expression, item, undefined, whole));
}

/** Reads a list of values: as JSON, or separated by commas. */
export function scalarsFrom(expression: Expression): Scalar[] {
  const { rest, expressionError } = expression;
  const whole: Json = rest.startsWith("[")
    ? readValue(rest, expressionError)
    : listedValues(expression);
  const scalars = Array.isArray(whole) ? whole.filter(isScalar) : [];
  if (!Array.isArray(whole) || scalars.length === 0 || scalars.length < whole.length) {
    const hint = "separate strings, numbers, true, false or null with commas";
    throw expressionError("this is not a list of values", hint);
  }
  return scalars;
}

/**
 * Combines two conditions on one name, both of which must hold.
 *
 * @param it - The kind of thing that both conditions limit, for messages.
 */
export function combine<Condition extends Scalar | object>(
  it: string,
  expressionError: ExpressionError,
  known: Condition,
  added: Condition,
): Condition {
  if (!isOperators(known) || !isOperators(added)) {
    throw expressionError(`${it} is given an exact value and another limit`);
  }
  const joined = new Map<string, Json>(Object.entries(known));
  for (const [operator, operand] of Object.entries(added)) {
    const before = joined.get(operator);
    if (before === undefined) joined.set(operator, operand);
    // Both operands are bounds of `items`, or operators of `each`.
    else if (isJsonObject(before) && isJsonObject(operand)) {
      joined.set(operator, combine(it, expressionError, before, operand));
    } else if (before !== operand || operator !== "optional") {
      throw expressionError(`${it} is given ${quoted(operator)} twice`, "keep the one you mean");
    }
  }
  return Object.fromEntries(joined) as Condition;
}

function isOperators(condition: Scalar | object): condition is object {
  return typeof condition === "object" && condition !== null;
}
