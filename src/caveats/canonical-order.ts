import type { Constraint } from "./hop.js";
import { isScalar } from "./scalar.js";

/** The order of sets: by UTF-16 code units, as RFC 8785 sorts names. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A set in canonical order, each member once. */
export function sortedSet(values: readonly string[]): string[] {
  return [...new Set(values)].sort(byCodeUnits);
}

/** Returns a limit with its lists in canonical order; any other value as it is, for the reader to refuse. */
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

function sortedScalars(values: readonly unknown[]): readonly unknown[] {
  if (!values.every(isScalar)) return values;
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...byText].sort(([a], [b]) => byCodeUnits(a, b)).map(([, value]) => value);
}
