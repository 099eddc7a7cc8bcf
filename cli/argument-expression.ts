import { isJsonObject, type Json } from "../src/bytes/json.js";
import type { Constraint, Operators } from "../src/caveats/hop.js";
import { isScalar, type Scalar } from "../src/caveats/scalar.js";
import { readValue, splitList } from "./argument-value.js";
import { type CliError, usageError } from "./exit.js";
import { quoted } from "./output.js";

/** An expression as it was typed, for messages. */
export interface Typed {
  readonly option: string;
  readonly text: string;
}

/** An expression taken apart at its operator. */
export interface Expression {
  readonly name: string;
  readonly operator: string;
  readonly rest: string;
}

const FORMS =
  "write it like amount<=1000, amount>=1, currency in USD,EUR, to=acc_456 or to not in acc_1,acc_2";
const PAIR = "write it like amount=500 or to=acc_456";
const OPERATOR = /<=|>=|!=|==|=|<|>|(?<!\s)\s+not\s+in(?=[\s[]|$)|(?<!\s)\s+in(?=[\s[]|$)/;

/**
 * Reads limits on arguments, all that are given for one argument together.
 *
 *     amount<=1000            at most
 *     amount>=1               at least
 *     currency in USD,EUR     one of
 *     to not in acc_1,acc_2   none of
 *     to=acc_456              exactly; or JSON, an object of operators included
 *
 * Values are JSON where they are JSON, else strings. A name with an operator in it is written as a
 * JSON string.
 *
 * @throws CliError saying what to write instead.
 */
export function readLimits(texts: readonly string[]): { readonly [argument: string]: Constraint } {
  return readConditions("--arg", texts, FORMS, limitFrom);
}

/**
 * Reads expressions, all that are given for one name together.
 *
 * @param forms - How one is written, for messages.
 * @throws CliError if there is no operator or no name, or two exclude each other.
 */
export function readConditions<Condition extends Scalar | object>(
  option: string,
  texts: readonly string[],
  forms: string,
  read: (typed: Typed, expression: Expression) => Condition,
): { readonly [name: string]: Condition } {
  const combined = new Map<string, Condition>();
  for (const text of texts) {
    const typed = { option, text };
    const expression = splitExpression(typed, forms);
    const added = read(typed, expression);
    const known = combined.get(expression.name);
    combined.set(expression.name, known === undefined ? added : combine(typed, known, added));
  }
  return Object.fromEntries(combined);
}

/**
 * Reads the arguments of an invocation, `NAME=VALUE` each.
 *
 * @throws CliError saying what to write instead.
 */
export function readArguments(texts: readonly string[]): { readonly [name: string]: Json } {
  const values = new Map<string, Json>();
  for (const text of texts) {
    const typed = { option: "--arg", text };
    const { name, operator, rest } = splitExpression(typed, PAIR);
    if (operator !== "=") throw refuse(typed, "an argument has one value", PAIR);
    if (values.has(name)) throw refuse(typed, "this argument is given twice");
    values.set(name, valueFrom(typed, rest));
  }
  return Object.fromEntries(values);
}

function limitFrom(typed: Typed, { name, operator, rest }: Expression): Constraint {
  switch (operator) {
    case "<=":
      return { max: numberFrom(typed, rest) };
    case ">=":
      return { min: numberFrom(typed, rest) };
    case "in":
      return { in: scalarsFrom(typed, rest) };
    case "not in":
      return { not_in: scalarsFrom(typed, rest) };
    case "=":
      return constraintFrom(typed, valueFrom(typed, rest));
    case "<":
    case ">":
      throw refuse(typed, `there is no ${operator}`, `use ${operator}=, which includes the number`);
    case "!=":
      throw refuse(typed, "there is no !=", `write ${quoted(`${name} not in ${rest}`)}`);
    default:
      throw refuse(typed, "there is no ==", "use one =");
  }
}

/** What is wrong with an expression. */
export function refuse({ option, text }: Typed, problem: string, hint?: string): CliError {
  return usageError(`${option} ${quoted(text)}: ${problem}`, hint);
}

function splitExpression(typed: Typed, forms: string): Expression {
  const { text } = typed;
  const quotedName = /^\s*("(?:[^"\\]|\\.)*")/.exec(text);
  const start = quotedName?.[0].length ?? 0;
  const found = OPERATOR.exec(text.slice(start));
  if (found === null) throw refuse(typed, "there is no operator", forms);
  const from = start + found.index;
  const bare = text.slice(0, from).trim();
  const name = quotedName?.[1] === bare ? valueFrom(typed, bare) : bare;
  if (typeof name !== "string" || name === "") {
    throw refuse(typed, "the argument's name is missing", forms);
  }
  return {
    name,
    operator: found[0].trim().replace(/\s+/, " "),
    rest: text.slice(from + found[0].length).trim(),
  };
}

/** A value as JSON, or as a string where it is no JSON. @throws CliError */
export function valueFrom(typed: Typed, part: string): Json {
  return readValue(part, (problem, hint) => refuse(typed, problem, hint));
}

function numberFrom(typed: Typed, part: string): number {
  const value = valueFrom(typed, part);
  if (typeof value === "number") return value;
  throw refuse(typed, `${quoted(part)} is not a number`, "<= and >= compare numbers");
}

/** A list of values: JSON, or with commas between. @throws CliError */
export function scalarsFrom(typed: Typed, part: string): Scalar[] {
  const whole: Json = part.startsWith("[")
    ? valueFrom(typed, part)
    : splitList(part).map((item) => valueFrom(typed, item));
  const scalars = Array.isArray(whole) ? whole.filter(isScalar) : [];
  if (!Array.isArray(whole) || scalars.length === 0 || scalars.length < whole.length) {
    const hint = "separate strings, numbers, true, false or null with commas";
    throw refuse(typed, "this is not a list of values", hint);
  }
  return scalars;
}

function constraintFrom(typed: Typed, value: Json): Constraint {
  if (isScalar(value)) return value;
  // Its operators are checked when the hop is put into canonical form.
  if (isJsonObject(value)) return value satisfies object as Operators;
  throw refuse(typed, "an argument is limited to one value, or by an object of operators", FORMS);
}

function combine<Condition extends Scalar | object>(
  typed: Typed,
  known: Condition,
  added: Condition,
): Condition {
  const it = typed.option === "--arg" ? "this argument" : "this field";
  if (!isOperators(known) || !isOperators(added)) {
    throw refuse(typed, `${it} is given an exact value and another limit`);
  }
  const twice = Object.keys(added).find((operator) => Object.hasOwn(known, operator));
  if (twice === undefined) return { ...known, ...added };
  throw refuse(typed, `${it} is given ${quoted(twice)} twice`, "keep the one you mean");
}

function isOperators(condition: Scalar | object): condition is object {
  return typeof condition === "object" && condition !== null;
}
