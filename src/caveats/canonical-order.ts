import { isObject, isTexts, type Json } from "../bytes/json.js";
import type { ArgumentConstraint, Constraint } from "./hop.js";
import { isScalar } from "./scalar.js";

/** Compares two strings by UTF-16 code units, as RFC 8785 does for property names. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the strings in canonical order, without duplicates. */
export function sortedSet(values: readonly string[]): string[] {
  return [...new Set(values)].sort(byCodeUnits);
}

/** Returns whether a value is a set in canonical order: a non-empty array of strings, strictly ascending. */
export function isSet(value: Json): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  let before: Json | undefined;
  for (const item of value) {
    if (typeof item !== "string" || (typeof before === "string" && before >= item)) return false;
    before = item;
  }
  return true;
}

/**
 * Returns a limit with its lists in canonical order. A value that is not a limit is returned unchanged; `hopFrom`
 * then refuses it.
 */
export function canonicalLimit(limit: unknown): unknown {
  if (typeof limit !== "object" || limit === null || Array.isArray(limit)) return limit;
  const operators = Object.entries(limit).map(([operator, operand]): [string, unknown] => [
    operator,
    Array.isArray(operand) ? sortedScalars(operand) : operand,
  ]);
  return Object.fromEntries(operators);
}

/** Sorts the lists of a limit, as {@link canonicalLimit} does. */
export function sortedLimit(limit: Constraint): Constraint {
  return canonicalLimit(limit) as Constraint;
}

/**
 * Returns a constraint of `operationConstraints` with its lists and sets in canonical order. A value that is not a
 * constraint is returned unchanged; `hopFrom` then refuses it.
 */
export function canonicalConstraint(constraint: unknown): unknown {
  if (!isObject(constraint)) return constraint;
  const { url, each } = constraint;
  const limit = canonicalLimit(constraint);
  if (!isObject(limit)) return limit;
  return {
    ...limit,
    ...(isObject(url) ? { url: withSortedSets(url) } : {}),
    ...(isObject(each) ? { each: canonicalConstraint(each) } : {}),
  };
}

/** Sorts the lists and sets of a constraint, as {@link canonicalConstraint} does. */
export function sortedConstraint(constraint: ArgumentConstraint): ArgumentConstraint {
  return canonicalConstraint(constraint) as ArgumentConstraint;
}

function withSortedSets(parts: { readonly [name: string]: unknown }): {
  readonly [name: string]: unknown;
} {
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, isTexts(part) ? sortedSet(part) : part]),
  );
}

function sortedScalars(values: readonly unknown[]): readonly unknown[] {
  if (!values.every(isScalar)) return values;
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...byText].sort(([a], [b]) => byCodeUnits(a, b)).map(([, value]) => value);
}
