import { isJsonObject, type Json } from "../src/bytes/json.js";
import { readArgumentName } from "../src/caveats/argument-pointer.js";
import type {
  ArgumentConstraint,
  ArgumentOperators,
  Constraint,
  ElementOperators,
  Hop,
} from "../src/caveats/hop.js";
import { isScalar } from "../src/caveats/scalar.js";
import {
  BOUNDS,
  combine,
  type Expression,
  type ExpressionError,
  equalValue,
  errorAbout,
  numberFrom,
  refuseOthers,
  scalarsFrom,
  splitExpression,
  valueFrom,
  type Wording,
} from "./expression.js";
import { readFolder, refuseList } from "./folder-expression.js";
import { word } from "./limit-words.js";
import { ANY_OPERATOR, splitOperation, WORDS } from "./operation-expression.js";
import { quoted, withoutTokens } from "./output.js";
import { readUrls } from "./url-expression.js";

const OPERATORS =
  "the operators are <=, >=, =, in and not in, and for one operation also under, at, begins with, each, items and absent";

const LIMIT: Wording = {
  option: "--arg",
  it: "this argument",
  forms:
    "write it like amount<=1000, amount>=1, currency in USD,EUR, to=acc_456 or to not in acc_1,acc_2; " +
    `for one operation like pay:amount<=50, read:path under /data or send:bcc absent; ${OPERATORS}`,
};

/** The properties of a hop that `--arg` sets. */
export type Limits = Pick<Hop, "constraints" | "operationConstraints">;

/**
 * Parses limits on arguments. If an argument has several limits, all of them must hold.
 *
 *     amount<=1000            at most
 *     amount>=1               at least
 *     currency in USD,EUR     one of
 *     to not in acc_1,acc_2   none of
 *     to=acc_456              exactly this value; in JSON, also an object of operators
 *
 * After an operation and a colon, or after `*:` for every operation, an expression can also be:
 *
 *     read:path under /data             this folder or below it
 *     fetch:url at https://*.a.example  a URL of these hosts
 *     send:subject begins with Report   a string with this beginning; not for paths or URLs
 *     send:to each in a,b               an array in which the limit `in a,b` holds for each element
 *     send:to items<=3                  an array of at most 3 elements
 *     send:bcc absent                   left out
 *     list:?limit<=100                  left out, or at most 100
 *     pay:/to/iban=DE02                 an argument inside another
 *
 * A value that is valid JSON is parsed as JSON; any other value is a string. A name or value that looks like an
 * operator or a pattern must be written as a JSON string.
 *
 * @throws CliError that shows a correct expression.
 */
export function readLimits(texts: readonly string[]): Limits {
  const every = new Map<string, Constraint>();
  const single = new Map<string, Map<string, ArgumentConstraint>>();
  for (const text of texts) {
    const expressionError = errorAbout(LIMIT, text);
    const { operation, before, rest } = splitOperation(text, expressionError);
    if (operation === undefined) {
      const [name, added] = everyLimit(text, expressionError);
      every.set(name, joined(every.get(name), added, expressionError));
      continue;
    }
    const [name, added] = singleLimit(before, rest, expressionError);
    const limits = single.get(operation) ?? new Map<string, ArgumentConstraint>();
    limits.set(name, joined(limits.get(name), added, expressionError));
    single.set(operation, limits);
  }
  const entries = [...single].map(([operation, limits]) => [operation, Object.fromEntries(limits)]);
  return {
    ...(every.size === 0 ? {} : { constraints: Object.fromEntries(every) }),
    ...(single.size === 0 ? {} : { operationConstraints: Object.fromEntries(entries) }),
  };
}

/** Parses a limit that holds for every operation, for the property `constraints`. */
function everyLimit(text: string, expressionError: ExpressionError): readonly [string, Constraint] {
  const options = { operators: ANY_OPERATOR };
  const expression = splitExpression(LIMIT, text, expressionError, options);
  refuseOthers(expression);
  const { name, isQuoted, operator } = expression;
  if (!isQuoted) argumentFrom(expression, text.trim());
  if (WORDS.includes(operator) || (!isQuoted && /^[?/]/.test(name))) {
    const whole = withoutTokens(text.trim());
    const hint = `write an operation before it, such as 'send:${whole}', or '*:${whole}' for every operation`;
    throw expressionError("this limit needs an operation", hint);
  }
  const limit = scalarLimit(expression);
  if (limit !== undefined) return [name, limit];
  const value = equalValue(expression, (pattern) => insteadOf(pattern, `*:${expression.subject}`));
  if (isScalar(value)) return [name, value];
  // The library checks the operators when it converts the hop to canonical form.
  if (isJsonObject(value)) return [name, value];
  const problem = "an argument is limited to one value, or by an object of operators";
  throw expressionError(problem, LIMIT.forms);
}

/** Parses a limit that holds for one operation, for the property `operationConstraints`. */
function singleLimit(
  before: string,
  text: string,
  expressionError: ExpressionError,
): readonly [string, ArgumentConstraint] {
  const trimmed = text.trim();
  const isOptional = trimmed.startsWith("?");
  const own = isOptional ? trimmed.slice(1).trim() : trimmed;
  const expression = splitExpression(LIMIT, own, expressionError, {
    operators: ANY_OPERATOR,
    before: `${before}${isOptional ? "?" : ""}`,
  });
  const { operator, rest } = expression;
  const name = argumentFrom(expression, own);
  if (operator === "absent") {
    if (!isOptional) return [name, { absent: true }];
    throw expressionError('"absent" needs no ?', `write '${before}${word(name)} absent'`);
  }
  const limit =
    operator === "each" ? { each: eachLimit(expression, rest) } : operandLimit(expression);
  if (!isOptional) return [name, limit];
  const operators: ArgumentOperators =
    limit === null || typeof limit !== "object" ? { in: [limit] } : limit;
  return [name, { ...operators, optional: true }];
}

/**
 * Returns the name of an argument. Refuses a malformed JSON Pointer, a pointer of one segment, and white space outside
 * quotes: in `to is absent` and `pay amount<=50`, it is the sign of a mistaken operator or a missing colon.
 */
function argumentFrom(
  { subject, name, isQuoted, expressionError }: Expression,
  own: string,
): string {
  if (!isQuoted && /\s/.test(name)) {
    const hint = `correct the operator, or end the operation with a colon; ${OPERATORS}; a name with white space is written in double quotes`;
    throw expressionError(`${quoted(name)} is not the name of an argument`, hint);
  }
  if (readArgumentName(name) !== undefined) return name;
  const single = /^\/([^/~]+)$/.exec(name)?.[1];
  if (single === undefined) {
    const form = "write it like pay:/to/iban=DE02; in a name, ~ is written ~0 and / is written ~1";
    throw expressionError(`${quoted(name)} is not a JSON Pointer`, form);
  }
  const before = subject.slice(0, subject.lastIndexOf(name));
  const after = own.slice(own.indexOf(name) + name.length);
  const whole = withoutTokens(
    isQuoted
      ? `${before.slice(0, -1)}${word(single)}${after.slice(1)}`
      : `${before}${word(single)}${after}`,
  );
  const problem = `${quoted(name)} is not the name of an argument inside another`;
  throw expressionError(problem, `write '${whole}'`);
}

/** Parses the limit that follows `each`, which has no name of its own. */
function eachLimit({ subject, name, expressionError }: Expression, text: string): ElementOperators {
  const found = ANY_OPERATOR.exec(` ${text}`);
  const isFirst =
    found !== null && found[0] !== "" && ` ${text}`.slice(0, found.index).trim() === "";
  const operator = found?.[0].trim().replace(/\s+/, " ") ?? "";
  if (!isFirst || operator === "each" || operator === "absent") {
    const hint = `write it like '${withoutTokens(subject)} each in a,b' or '${withoutTokens(subject)} each under /data'`;
    throw expressionError("an operator for the elements is missing behind each", hint);
  }
  const rest = ` ${text}`.slice(found.index + found[0].length).trim();
  const own = { subject: `${subject} each`, name, isQuoted: true, operator, rest, expressionError };
  const limit = operandLimit(own);
  return limit === null || typeof limit !== "object" ? { in: [limit] } : limit;
}

/** Parses a limit that `operationConstraints` allows, other than `absent` and `each`. */
function operandLimit(expression: Expression): ArgumentConstraint {
  refuseOthers(expression);
  const { subject, operator, expressionError } = expression;
  const scalar = scalarLimit(expression);
  if (scalar !== undefined) return scalar;
  const instead = (pattern: string): string | undefined => insteadOf(pattern, subject);
  switch (operator) {
    case "under":
      refuseList(expression, "folder");
      return { path: readFolder(expression, textFrom(expression, instead)) };
    case "begins with":
      refuseList(expression, "beginning");
      return { prefix: textFrom(expression, instead) };
    case "at":
      return { url: readUrls(expression) };
    case "items":
      return { items: countFrom(expression) };
    default: {
      const value = equalValue(expression, instead);
      if (isScalar(value)) return value;
      if (isJsonObject(value)) return value;
      const problem = "an argument is limited to one value, or by an object of operators";
      throw expressionError(problem, `for an array, write '${withoutTokens(subject)} each in a,b'`);
    }
  }
}

/** Parses an operator that `constraints` allows, other than `=`. Returns `undefined` for any other operator. */
function scalarLimit(expression: Expression): Constraint | undefined {
  const { subject, operator, rest, expressionError } = expression;
  const bound = BOUNDS[operator];
  if (bound !== undefined) return { [bound]: numberFrom(expression) };
  if (operator === "in") return { in: scalarsFrom(expression) };
  if (operator === "not in") return { not_in: scalarsFrom(expression) };
  if (operator === "!=") {
    throw expressionError("there is no !=", `write ${quoted(`${subject} not in ${rest}`)}`);
  }
  if (operator === "==") throw expressionError("there is no ==", "use one =");
  return undefined;
}

/** Parses a string. A number, `true`, `false` or `null` is taken literally, as a string. */
function textFrom(
  expression: Expression,
  instead: (pattern: string) => string | undefined,
): string {
  const { rest, expressionError } = expression;
  const value: Json = valueFrom(expression, rest, instead);
  if (typeof value === "string") return value;
  if (isScalar(value)) return rest;
  throw expressionError(`${quoted(rest)} is not a string`, LIMIT.forms);
}

const COUNTED = /^(<=|>=|=)\s*(\d{1,3})$/;

/** Parses a number of elements: `<=3`, `>=1` or `=2`. */
function countFrom({ subject, rest, expressionError }: Expression): {
  readonly min?: number;
  readonly max?: number;
} {
  const [, operator = "", digits] = COUNTED.exec(rest) ?? [];
  if (digits === undefined) {
    const hint = `write it like '${withoutTokens(subject)} items<=3'`;
    throw expressionError(`${quoted(rest)} is not a number of elements`, hint);
  }
  const bound = BOUNDS[operator];
  const count = Number(digits);
  return bound === undefined ? { min: count, max: count } : { [bound]: count };
}

/**
 * Returns the expression that a pattern with `*` at its end probably means; `undefined` if no expression has
 * that meaning.
 */
function insteadOf(pattern: string, subject: string): string | undefined {
  if (/^(https?|wss?):\/\//.test(pattern)) return `${subject} at ${pattern.replace(/\/?\*+$/, "")}`;
  const [, folder, start] = /^(?:([^*]*)\/\*+|([^*]+)\*)$/.exec(pattern) ?? [];
  if (folder !== undefined) return `${subject} under ${folder === "" ? "/" : folder}`;
  return start === undefined || start.includes("/") ? undefined : `${subject} begins with ${start}`;
}

/** Combines limits on one argument, all of which must hold. */
function joined<Limit extends ArgumentConstraint>(
  known: Limit | undefined,
  added: Limit,
  expressionError: ExpressionError,
): Limit {
  if (known === undefined) return added;
  const isAbsent = [known, added].some((limit) => isMarked(limit, "absent"));
  if (isAbsent) throw expressionError("this argument is absent, and has another limit");
  if (isMarked(known, "optional") !== isMarked(added, "optional")) {
    throw expressionError(
      "this argument has limits with ? and without",
      "write ? in each of them, or in none",
    );
  }
  return combine(LIMIT.it, expressionError, known, added);
}

function isMarked(limit: ArgumentConstraint, mark: "absent" | "optional"): boolean {
  return limit !== null && typeof limit === "object" && Object.hasOwn(limit, mark);
}
