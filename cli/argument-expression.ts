import type { FieldCondition, ResourceFilter } from "../src/agent/resources/resource.js";
import { isJsonObject, type Json } from "../src/bytes/json.js";
import type { Constraint, Operators } from "../src/caveats/hop.js";
import { isScalar, type Scalar } from "../src/caveats/scalar.js";
import { readValue, splitList } from "./argument-value.js";
import { type CliError, usageError } from "./exit.js";
import { quoted, withoutTokens } from "./output.js";

/** What an option's expressions are about, for messages. */
interface Wording {
  readonly option: string;
  readonly it: string;
  /** How one is written. */
  readonly forms: string;
}

/** An expression taken apart at its operator. */
interface Expression {
  readonly name: string;
  readonly operator: string;
  readonly rest: string;
  /** An error about this expression. */
  readonly expressionError: (problem: string, hint?: string) => CliError;
}

const LIMIT: Wording = {
  ...{ option: "--arg", it: "this argument" },
  forms:
    "write it like amount<=1000, amount>=1, currency in USD,EUR, to=acc_456 or to not in acc_1,acc_2",
};
const ARGUMENT: Wording = { ...LIMIT, forms: "write it like amount=500 or to=acc_456" };
const FILTER: Wording = {
  ...{ option: "--filter", it: "this field" },
  forms:
    "write it like department=finance, year>=2024, date<=2025-12-31 or department in finance,legal",
};
const OPERATOR = /<=|>=|!=|==|=|<|>|(?<!\s)\s+not\s+in(?=[\s[]|$)|(?<!\s)\s+in(?=[\s[]|$)/;
const BOUNDS: Readonly<Record<string, "min" | "max">> = { "<=": "max", ">=": "min" };

/**
 * Reads limits on arguments, all that are given for one argument together.
 *
 *     amount<=1000            at most
 *     amount>=1               at least
 *     currency in USD,EUR     one of
 *     to not in acc_1,acc_2   none of
 *     to=acc_456              exactly; or JSON, an object of operators included
 *
 * Values are JSON where they are JSON, else strings. A name or a value that looks like an operator or a
 * pattern is written as a JSON string.
 *
 * @throws CliError saying what to write instead.
 */
export function readLimits(texts: readonly string[]): { readonly [argument: string]: Constraint } {
  return readConditions(LIMIT, texts, (expression): Constraint => {
    const { name, operator, rest, expressionError } = expression;
    const bound = BOUNDS[operator];
    if (bound !== undefined) return { [bound]: numberFrom(expression) };
    if (operator === "in") return { in: scalarsFrom(expression) };
    if (operator === "not in") return { not_in: scalarsFrom(expression) };
    if (operator === "!=") {
      throw expressionError("there is no !=", `write ${quoted(`${name} not in ${rest}`)}`);
    }
    if (operator === "==") throw expressionError("there is no ==", "use one =");
    const value = equalValue(expression);
    if (isScalar(value)) return value;
    // Its operators are checked when the hop is put into canonical form.
    if (isJsonObject(value)) return value satisfies object as Operators;
    const problem = "an argument is limited to one value, or by an object of operators";
    throw expressionError(problem, LIMIT.forms);
  });
}

/**
 * Reads conditions on the fields of resources, written as `--arg` writes its limits; what is given
 * for one field holds together. `<=` and `>=` compare texts, such as dates, as well as numbers.
 *
 * @throws CliError saying what to write instead.
 */
export function readFilters(texts: readonly string[]): ResourceFilter {
  return readConditions(FILTER, texts, (expression): FieldCondition => {
    const { operator, rest, expressionError } = expression;
    if (operator === "in") return { in: scalarsFrom(expression) };
    const bound = BOUNDS[operator];
    if (bound === undefined && operator !== "=") {
      throw expressionError(`a filter has no ${operator}`, FILTER.forms);
    }
    const value = bound === undefined ? equalValue(expression) : valueFrom(expression);
    if (bound === undefined) {
      if (isScalar(value)) return value;
      throw expressionError("a field is compared with one value", FILTER.forms);
    }
    if (typeof value === "number" || typeof value === "string") return { [bound]: value };
    throw expressionError(`${quoted(rest)} has no order`, "<= and >= compare numbers, or texts");
  });
}

/**
 * Reads the arguments of an invocation, `NAME=VALUE` each.
 *
 * @param option - What they are given by, for messages.
 * @throws CliError saying what to write instead.
 */
export function readArguments(
  texts: readonly string[],
  option: string = ARGUMENT.option,
): { readonly [name: string]: Json } {
  const values = new Map<string, Json>();
  for (const text of texts) {
    const expression = splitExpression({ ...ARGUMENT, option }, text);
    const { name, operator, expressionError } = expression;
    if (operator !== "=") throw expressionError("an argument has one value", ARGUMENT.forms);
    if (values.has(name)) throw expressionError("this argument is given twice");
    values.set(name, valueFrom(expression));
  }
  return Object.fromEntries(values);
}

/** Reads expressions, all that are given for one name together. */
function readConditions<Condition extends Scalar | object>(
  wording: Wording,
  texts: readonly string[],
  read: (expression: Expression) => Condition,
): { readonly [name: string]: Condition } {
  const combined = new Map<string, Condition>();
  for (const text of texts) {
    const expression = splitExpression(wording, text);
    const { name, operator, expressionError } = expression;
    if (operator === "<" || operator === ">") {
      throw expressionError(
        `there is no ${operator}`,
        `use ${operator}=, which includes the value`,
      );
    }
    const sign = MISWRITTEN.exec(name)?.[0];
    // A name in double quotes is meant as it is.
    if (operator === "=" && sign !== undefined && !/^\s*"/.test(text)) {
      throw expressionError(
        `there is no ${sign}=`,
        literally(`${quoted(name)}=${expression.rest}`),
      );
    }
    const added = read(expression);
    const known = combined.get(name);
    combined.set(
      name,
      known === undefined ? added : combine(wording, expressionError, known, added),
    );
  }
  return Object.fromEntries(combined);
}

function splitExpression({ option, forms }: Wording, text: string): Expression {
  const expressionError = (problem: string, hint?: string): CliError =>
    usageError(`${option} ${quoted(text)}: ${problem}`, hint);
  const quotedName = /^\s*("(?:[^"\\]|\\.)*")/.exec(text);
  const start = quotedName?.[0].length ?? 0;
  const found = OPERATOR.exec(text.slice(start));
  if (found === null) throw expressionError("there is no operator", forms);
  const from = start + found.index;
  const bare = text.slice(0, from).trim();
  const name = quotedName?.[1] === bare ? readValue(bare, expressionError) : bare;
  if (typeof name !== "string" || name === "") {
    throw expressionError("the argument's name is missing", forms);
  }
  const operator = found[0].trim().replace(/\s+/, " ");
  return {
    name,
    operator,
    rest: text.slice(from + found[0].length).trim(),
    expressionError,
  };
}

/** The end of a name that belongs to an operator of other languages: `path~=x`, `path*=x`. */
const MISWRITTEN = /[~^$*:]$/;

/**
 * The value that `=` compares with. Bare text that looks like an operator or a pattern is refused: it would
 * be compared as it stands, and no call would meet it.
 */
function equalValue({ name, rest, expressionError }: Expression): Json {
  const sign = /^[<>~]/.exec(rest)?.[0];
  if (sign !== undefined) {
    const hint = literally(`${name}=${quoted(rest)}`);
    throw expressionError(`there is no =${sign}`, sign === "~" ? hint : `use ${sign}=; ${hint}`);
  }
  const value = readValue(rest, expressionError);
  if (isPattern(rest, value))
    throw expressionError(NO_PATTERNS, literally(`${name}=${quoted(value)}`));
  return value;
}

const NO_PATTERNS = "there are no patterns: * would stand for itself";

/** @param text - As the value was written: in double quotes it is meant as it is. */
function isPattern(text: string, value: Json): value is string {
  return typeof value === "string" && value.includes("*") && !text.startsWith('"');
}

/** Returns the hint that shows how to write a text that stands for itself. */
function literally(expression: string): string {
  return `for this very text, write '${withoutTokens(expression)}'`;
}

/** The value as JSON, or as a string where it is no JSON. */
function valueFrom({ rest, expressionError }: Expression): Json {
  return readValue(rest, expressionError);
}

function numberFrom({ rest, expressionError }: Expression): number {
  const value = readValue(rest, expressionError);
  if (typeof value === "number") return value;
  throw expressionError(`${quoted(rest)} is not a number`, "<= and >= compare numbers");
}

/** The list of values: JSON, or with commas between. */
function scalarsFrom({ name, operator, rest, expressionError }: Expression): Scalar[] {
  const whole: Json = rest.startsWith("[")
    ? readValue(rest, expressionError)
    : splitList(rest).map((item) => {
        const value = readValue(item, expressionError);
        if (!isPattern(item, value)) return value;
        throw expressionError(NO_PATTERNS, literally(`${name} ${operator} ${quoted(value)}`));
      });
  const scalars = Array.isArray(whole) ? whole.filter(isScalar) : [];
  if (!Array.isArray(whole) || scalars.length === 0 || scalars.length < whole.length) {
    const hint = "separate strings, numbers, true, false or null with commas";
    throw expressionError("this is not a list of values", hint);
  }
  return scalars;
}

function combine<Condition extends Scalar | object>(
  { it }: Wording,
  expressionError: Expression["expressionError"],
  known: Condition,
  added: Condition,
): Condition {
  if (!isOperators(known) || !isOperators(added)) {
    throw expressionError(`${it} is given an exact value and another limit`);
  }
  const twice = Object.keys(added).find((operator) => Object.hasOwn(known, operator));
  if (twice === undefined) return { ...known, ...added };
  throw expressionError(`${it} is given ${quoted(twice)} twice`, "keep the one you mean");
}

function isOperators(condition: Scalar | object): condition is object {
  return typeof condition === "object" && condition !== null;
}
