import type { FieldCondition, ResourceFilter } from "../src/agent/resources/resource.js";
import type { Json } from "../src/bytes/json.js";
import { isScalar } from "../src/caveats/scalar.js";
import { readValue } from "./argument-value.js";
import {
  BOUNDS,
  combine,
  equalValue,
  errorAbout,
  refuseOthers,
  scalarsFrom,
  splitExpression,
  type Wording,
} from "./expression.js";
import { quoted } from "./output.js";

const ARGUMENT: Wording = {
  option: "--arg",
  it: "this argument",
  forms: "write it like amount=500 or to=acc_456",
};
const FILTER: Wording = {
  option: "--filter",
  it: "this field",
  forms:
    "write it like department=finance, year>=2024, date<=2025-12-31 or department in finance,legal",
};

/**
 * Parses conditions on the fields of resources, in the form of `--arg`. If a field has several conditions, all
 * of them must hold. `<=` and `>=` compare numbers and strings, such as dates.
 *
 * @throws CliError that shows the correct form of an expression.
 */
export function readFilters(texts: readonly string[]): ResourceFilter {
  const combined = new Map<string, FieldCondition>();
  for (const text of texts) {
    const expressionError = errorAbout(FILTER, text);
    const expression = splitExpression(FILTER, text, expressionError);
    refuseOthers(expression);
    const { name, operator, rest } = expression;
    const bound = BOUNDS[operator];
    let added: FieldCondition;
    if (operator === "in") added = { in: scalarsFrom(expression) };
    else if (bound !== undefined) {
      const value = readValue(rest, expressionError);
      if (typeof value !== "number" && typeof value !== "string") {
        const problem = `${quoted(rest)} has no order`;
        throw expressionError(problem, "<= and >= compare numbers, or strings");
      }
      added = { [bound]: value };
    } else if (operator === "=") {
      const value = equalValue(expression);
      if (!isScalar(value)) {
        throw expressionError("a field is compared with one value", FILTER.forms);
      }
      added = value;
    } else throw expressionError(`a filter has no ${operator}`, FILTER.forms);
    const known = combined.get(name);
    const both = known === undefined ? added : combine(FILTER.it, expressionError, known, added);
    combined.set(name, both);
  }
  return Object.fromEntries(combined);
}

/**
 * Parses the arguments of an invocation, each `NAME=VALUE`.
 *
 * @param option - The option that has these arguments, for messages.
 * @throws CliError that shows the correct form of an expression.
 */
export function readArguments(
  texts: readonly string[],
  option: string = ARGUMENT.option,
): { readonly [name: string]: Json } {
  const values = new Map<string, Json>();
  for (const text of texts) {
    const expressionError = errorAbout({ ...ARGUMENT, option }, text);
    const { name, operator, rest } = splitExpression(ARGUMENT, text, expressionError);
    if (operator !== "=") throw expressionError("an argument has one value", ARGUMENT.forms);
    if (values.has(name)) throw expressionError("this argument is given twice");
    values.set(name, readValue(rest, expressionError));
  }
  return Object.fromEntries(values);
}
