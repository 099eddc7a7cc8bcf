import type { Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import type { Constraint, Operators } from "./hop.js";
import { NONE, type RuleFailure } from "./hop-rule.js";
import { repeated, type Scalar, scalarType, shown, shownList } from "./scalar.js";

const OPERATORS = ["in", "max", "min", "not_in"] as const;

/**
 * Judges one argument of a call by the limit on it; returns a failure for each operator that is not
 * met.
 *
 * @param rule - Returns the name of the limit on an argument, for denials.
 */
export function judgeArgument(
  rule: (argument: string) => string,
  argument: string,
  limit: Constraint,
  given: { readonly [name: string]: unknown },
  suggest: Suggest,
): readonly RuleFailure[] {
  const present = Object.hasOwn(given, argument);
  const value = present ? given[argument] : undefined;
  const violated = (name: string, { expected, must, near }: OperatorFailure): RuleFailure => ({
    code: "constraint_violated",
    rule: name,
    expected,
    message: `argument ${shown(argument)} ${must}; ${present ? `it is ${shownArgument(value)}` : "it is missing"}`,
    ...(present ? { actual: repeated(value) } : {}),
    ...(near === undefined ? {} : { nearest: near }),
  });
  if (limit === null || typeof limit !== "object") {
    if (present && value === limit) return NONE;
    const must = `must be ${shown(limit)}`;
    return [violated(rule(argument), { expected: limit, must, near: limit })];
  }
  let found: RuleFailure[] | undefined;
  for (const operator of OPERATORS) {
    if (!Object.hasOwn(limit, operator)) continue;
    const failure = judgeOperator(limit, operator, value, suggest);
    if (failure === undefined) continue;
    found ??= [];
    found.push(violated(`${rule(argument)}.${operator}`, failure));
  }
  return found ?? NONE;
}

interface OperatorFailure {
  readonly expected: Json;
  readonly must: string;
  readonly near?: Json | undefined;
}

function judgeOperator(
  limit: Operators,
  operator: keyof Operators,
  value: unknown,
  suggest: Suggest,
): OperatorFailure | undefined {
  const { min, max, in: listed, not_in: excluded } = limit;
  if (operator === "max" && max !== undefined) {
    if (scalarType(value) === "number" && Number(value) <= max) return undefined;
    return { expected: max, must: `must be a number of at most ${max}`, near: max };
  }
  if (operator === "min" && min !== undefined) {
    if (scalarType(value) === "number" && Number(value) >= min) return undefined;
    return { expected: min, must: `must be a number of at least ${min}`, near: min };
  }
  if (operator === "in" && listed !== undefined) {
    if (listed.some((allowed) => allowed === value)) return undefined;
    const texts = listed.filter((item) => typeof item === "string");
    const near = suggest(value, texts);
    return { expected: listed, must: `must be one of ${shownList(listed)}`, near };
  }
  if (operator === "not_in" && excluded !== undefined) {
    return judgeExclusion(excluded, value);
  }
  return undefined;
}

// A value of a type that no member has is refused too: a service that reads "7" and 7 alike could
// otherwise be led past the exclusion.
function judgeExclusion(excluded: readonly Scalar[], value: unknown): OperatorFailure | undefined {
  const type = scalarType(value);
  const types = [...new Set(excluded.map(scalarType))];
  if (type === undefined || !types.includes(type)) {
    return { expected: excluded, must: `must be of type ${types.join(" or ")}` };
  }
  if (!excluded.some((item) => item === value)) return undefined;
  return { expected: excluded, must: `must not be one of ${shownList(excluded)}` };
}

function shownArgument(value: unknown): string {
  return typeof value === "object" && value !== null ? String(repeated(value)) : shown(value);
}
