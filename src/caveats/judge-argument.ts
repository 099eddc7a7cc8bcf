import type { Suggest } from "../checks/nearest.js";
import type { Found } from "./argument-pointer.js";
import { NONE, type RuleFailure } from "./hop-rule.js";
import { type OperatorFailure, type OperatorTable, operatorFailures } from "./operators.js";
import { repeated, type Scalar, shown } from "./scalar.js";

/** A limit on one argument, with the names of the limit and of the argument. */
export interface ArgumentLimit<All> {
  /** The name of the limit in denials, such as `constraints.amount`. */
  readonly rule: string;
  readonly argument: string;
  readonly limit: Scalar | All;
}

/**
 * Judges one argument of a call; returns a failure for each operator that the argument violates.
 *
 * @param table - The operators that the limit may have.
 */
export function judgeArgument<All extends object>(
  { rule, argument, limit }: ArgumentLimit<All>,
  table: OperatorTable<All>,
  found: Found,
  suggest: Suggest,
): readonly RuleFailure[] {
  const present = found.kind === "present";
  const value = present ? found.value : undefined;
  const violated = (name: string, { expected, must, near }: OperatorFailure): RuleFailure => ({
    code: "constraint_violated",
    rule: name,
    expected,
    message: `argument ${shown(argument)} ${must}; ${wordsFor(found)}`,
    ...(found.kind === "missing" ? {} : { actual: repeated(found.value) }),
    ...(near === undefined ? {} : { nearest: near }),
  });
  if (limit === null || typeof limit !== "object") {
    if (present && value === limit) return NONE;
    const must = `must be ${shown(limit)}`;
    return [violated(rule, { expected: limit, must, near: limit })];
  }
  let failures: RuleFailure[] | undefined;
  for (const [operator, failure] of operatorFailures(table, limit, value, suggest)) {
    failures ??= [];
    failures.push(violated(`${rule}.${operator}`, failure));
  }
  return failures ?? NONE;
}

/** Returns the end of a sentence about an argument: the value in the call, or why the argument cannot be judged. */
function wordsFor(found: Found): string {
  switch (found.kind) {
    case "missing":
      return "it is missing";
    case "unreachable":
      return `${shown(found.holder)} is no object`;
    case "oversized":
      return `it has ${found.size}, too many to be judged`;
    case "present":
      return `it is ${shownArgument(found.value)}`;
  }
}

function shownArgument(value: unknown): string {
  return typeof value === "object" && value !== null ? String(repeated(value)) : shown(value);
}
