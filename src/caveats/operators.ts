import { isJsonObject, type Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { type Operators, ownMember } from "./hop.js";
import { type HopProblem, unknownName, wrongValue } from "./hop-rule.js";
import { isScalar, type Scalar, scalarType, shownList } from "./scalar.js";

/** The reason why a value violates an operator. */
export interface OperatorFailure {
  /** The operand of the violated operator. */
  readonly expected: Json;
  /** The end of a sentence about the argument, such as `must be a number of at most 50`. */
  readonly must: string;
  /** The nearest value that satisfies the operator, if there is one. */
  readonly near?: Json | undefined;
}

/** Reads and judges one operator of a constraint. */
export interface OperatorRule<Operand> {
  /** Yields the problems of an operand that was read from a caveat. */
  problems(rule: string, operand: Json, suggest: Suggest): Iterable<HopProblem>;
  /** Returns why a value does not satisfy the operator; `undefined` if it does. */
  failure(operand: Operand, value: unknown, suggest: Suggest): OperatorFailure | undefined;
}

/** A rule for each operator of a type of constraint. */
export type OperatorTable<All> = {
  readonly [Name in keyof All & string]-?: OperatorRule<NonNullable<All[Name]>>;
};

/** The operators of `constraints`, in the order in which they are judged. */
export const SCALAR_OPERATORS: OperatorTable<Operators> = {
  in: {
    problems: listProblems,
    failure(listed, value, suggest) {
      if (listed.some((allowed) => allowed === value)) return undefined;
      const texts = listed.filter((item) => typeof item === "string");
      const must = `must be one of ${shownList(listed)}`;
      return { expected: listed, must, near: suggest(value, texts) };
    },
  },
  max: {
    problems: numberProblems,
    failure(max, value) {
      if (scalarType(value) === "number" && Number(value) <= max) return undefined;
      return { expected: max, must: `must be a number of at most ${max}`, near: max };
    },
  },
  min: {
    problems: numberProblems,
    failure(min, value) {
      if (scalarType(value) === "number" && Number(value) >= min) return undefined;
      return { expected: min, must: `must be a number of at least ${min}`, near: min };
    },
  },
  not_in: {
    problems: listProblems,
    // A value is also refused if no excluded value has its type. Otherwise the exclusion could be bypassed at a
    // service that treats "7" and 7 alike.
    failure(excluded, value) {
      const type = scalarType(value);
      const types = [...new Set(excluded.map(scalarType))];
      if (type === undefined || !types.includes(type)) {
        return { expected: excluded, must: `must be of type ${types.join(" or ")}` };
      }
      if (!excluded.some((item) => item === value)) return undefined;
      return { expected: excluded, must: `must not be one of ${shownList(excluded)}` };
    },
  },
};

/** Returns a hint about an operator that a table does not have; `undefined` for a suggestion from the table. */
type HintFor = (operator: string) => string | undefined;

/** Yields the problems of a constraint that was read from a caveat: a scalar, or an object of operators. */
export function* constraintProblems<All>(
  table: OperatorTable<All>,
  rule: string,
  constraint: Json,
  suggest: Suggest,
  hintFor: HintFor = () => undefined,
): Iterable<HopProblem> {
  if (isScalar(constraint)) return;
  if (!isJsonObject(constraint) || Object.keys(constraint).length === 0) {
    const expected = "a value, or an object with at least one operator";
    yield wrongValue(rule, expected, constraint);
    return;
  }
  yield* operatorProblems(table, rule, constraint, suggest, hintFor);
}

/** Yields the problems of an object of operators that was read from a caveat. */
export function* operatorProblems<All>(
  table: OperatorTable<All>,
  rule: string,
  operators: { readonly [name: string]: Json },
  suggest: Suggest,
  hintFor: HintFor = () => undefined,
): Iterable<HopProblem> {
  const rules = new Map<string, Pick<OperatorRule<never>, "problems">>(Object.entries(table));
  for (const [name, operand] of Object.entries(operators)) {
    const own = rules.get(name);
    const where = `${rule}.${name}`;
    if (own !== undefined) {
      yield* own.problems(where, operand, suggest);
      continue;
    }
    const place = { inside: rule, rule: where, what: "unknown operator", known: [...rules.keys()] };
    yield unknownName(name, { ...place, hint: hintFor(name) }, suggest);
  }
}

/** Yields the operators that a value violates, in the order of the table. */
export function* operatorFailures<All extends object>(
  table: OperatorTable<All>,
  operators: All,
  value: unknown,
  suggest: Suggest,
): Iterable<readonly [name: string, failure: OperatorFailure]> {
  for (const name of Object.keys(table) as (keyof All & string)[]) {
    const failure = failureOf(table, operators, name, value, suggest);
    if (failure !== undefined) yield [name, failure];
  }
}

function failureOf<All extends object, Name extends keyof All & string>(
  table: OperatorTable<All>,
  operators: All,
  name: Name,
  value: unknown,
  suggest: Suggest,
): OperatorFailure | undefined {
  const operand = ownMember(operators, name);
  return operand === undefined || operand === null
    ? undefined
    : table[name].failure(operand, value, suggest);
}

function* numberProblems(rule: string, operand: Json): Iterable<HopProblem> {
  if (typeof operand !== "number") yield wrongValue(rule, "a number", operand);
}

function* listProblems(rule: string, operand: Json): Iterable<HopProblem> {
  if (!isScalars(operand)) {
    const expected = "a non-empty array of strings, numbers, booleans or null";
    yield wrongValue(rule, expected, operand);
  } else if (!isAscending(operand)) {
    yield wrongValue(rule, "strictly ascending by canonical text, each value once", operand);
  }
}

function isScalars(value: Json): value is readonly Scalar[] {
  return Array.isArray(value) && value.length > 0 && value.every(isScalar);
}

function isAscending(values: readonly Scalar[]): boolean {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.every((text, at) => at === 0 || (texts[at - 1] ?? "") < text);
}
