import type { Json } from "../bytes/json.js";
import { isWellFormed } from "../bytes/utf8.js";

/** A value that a limit on an argument can name. */
export type Scalar = string | number | boolean | null;

/** The JSON type of a {@link Scalar}. */
export type ScalarType = "string" | "number" | "boolean" | "null";

/** Returns the type of a value that a limit can name; `undefined` for every other value. */
export function scalarType(value: unknown): ScalarType | undefined {
  if (value === null) return "null";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "string") return isWellFormed(value) ? "string" : undefined;
  return typeof value === "number" && Number.isFinite(value) ? "number" : undefined;
}

export function isScalar(value: unknown): value is Scalar {
  return scalarType(value) !== undefined;
}

const MAX_SHOWN = 80;

/** Formats any value for a message, as JSON cut to 80 characters. */
export function shown(value: unknown): string {
  // A string is cut before it is encoded, since a string in a call may have megabytes.
  const text = textOf(typeof value === "string" ? value.slice(0, MAX_SHOWN) : value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text;
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // The value is too deep, cyclic, or a bigint; a refusal must not become an exception.
    return `a ${typeof value} that cannot be shown`;
  }
}

/** Longest string that a denial repeats in full, in characters. */
const MAX_REPEATED = 256;

/**
 * Returns a value of a call in the form in which a denial repeats it. A long string is cut, and an array or an object
 * is only described. Otherwise, a value of 1 MB would be repeated in the denial of each violated rule.
 */
export function repeated(value: unknown): unknown {
  if (typeof value === "string" && value.length > MAX_REPEATED) {
    return `${value.slice(0, MAX_REPEATED)}...`;
  }
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? "an array" : "an object";
}

/** Formats several values for a message. */
export function shownList(values: readonly Json[], most = 8): string {
  if (values.length === 0) return "nothing";
  const rest = values.length - most;
  const list = values.slice(0, most).map(shown).join(", ");
  return rest > 0 ? `${list} and ${rest} more` : list;
}
