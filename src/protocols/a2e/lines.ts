import { inexactPart } from "../../bytes/exact-json.js";
import {
  duplicateKey,
  isJsonObject,
  type Json,
  type JsonObject,
  outlineJson,
  quotedName,
} from "../../bytes/json.js";
import { decodeUtf8, isWellFormed } from "../../bytes/utf8.js";

/** Limits of a line, the same at both ends. */
export interface LineLimits {
  /** Bytes without the line feed; 262,144 unless given. */
  readonly line: number;
  /** Nesting of arrays and objects; 32 unless given. */
  readonly depth: number;
}

export const LINE_LIMITS: LineLimits = { line: 256 * 1024, depth: 32 };

/** Parses a line as a message, or returns its fault. */
export type LineReading =
  | { readonly ok: true; readonly message: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * Parses one JSON object in UTF-8 without duplicate names, lone surrogates or numbers out of range, which
 * readers treat differently.
 *
 * @param exact - `true` refuses every number that a double does not hold as it is written.
 */
export function readLine(bytes: Uint8Array, depth: number, exact = false): LineReading {
  const text = decodeUtf8(bytes);
  if (text === undefined) return problem("the line is not UTF-8");
  if (outlineJson(text).depth > depth) return problem(`the line is nested more than ${depth} deep`);
  let message: Json;
  try {
    message = JSON.parse(text);
  } catch {
    return problem("the line is not JSON");
  }
  if (!isJsonObject(message)) return problem("the line is not a JSON object");
  const twice = duplicateKey(text);
  if (twice !== undefined)
    return problem(`an object has the member ${quotedName(twice.key)} twice`);
  if (HUGE.test(text) && !hasFiniteNumbers(message))
    return problem("a number in the line is too large");
  const inexact = exact ? inexactPart(text) : undefined;
  if (inexact !== undefined) return problem(inexact);
  // Only an escape can write half of a pair, since the bytes are UTF-8.
  if (text.includes("\\u") && !hasWholePairs(message)) {
    return problem("a text in the line has half of a surrogate pair");
  }
  return { ok: true, message };
}

/** A number with fewer digits, before and in its exponent, is finite. */
const HUGE = /\d{100}|[eE]\+?\d{3}/;

function hasFiniteNumbers(message: Json): boolean {
  for (const value of valuesIn(message)) {
    if (typeof value === "number" && !Number.isFinite(value)) return false;
  }
  return true;
}

/** Checks that no text in a value has half of a surrogate pair. */
export function hasWholePairs(message: Json): boolean {
  for (const value of valuesIn(message)) {
    if (typeof value === "string" && !isWellFormed(value)) return false;
  }
  return true;
}

/** All values within one, the names of members included. */
function* valuesIn(message: Json): Generator<Json, void, void> {
  const open: Json[] = [message];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    if (typeof next !== "object" || next === null) continue;
    for (const inner of Array.isArray(next) ? next : Object.entries(next).flat()) open.push(inner);
  }
}

function problem(text: string): LineReading {
  return { ok: false, problem: text };
}
