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

/** Limits of a line, whether the line is received or sent. */
export interface LineLimits {
  /** Longest line, in bytes, without its line feed; 262,144 unless given. */
  readonly line: number;
  /** Maximum nesting depth of arrays and objects; 32 unless given. */
  readonly depth: number;
}

export const LINE_LIMITS: LineLimits = { line: 256 * 1024, depth: 32 };

/** A parsed message, or the problem with its line. */
export type LineReading =
  | { readonly ok: true; readonly message: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * Parses a line, which must be one JSON object in UTF-8. Refuses duplicate property names, lone surrogates and numbers
 * too large for a double, because JSON parsers disagree about all three.
 *
 * @param exact - True to refuse every number that a double cannot hold exactly.
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
    return problem(`an object has the property ${quotedName(twice.key)} twice`);
  if (HUGE.test(text) && !hasFiniteNumbers(message))
    return problem("a number in the line is too large");
  const inexact = exact ? inexactPart(text) : undefined;
  if (inexact !== undefined) return problem(inexact);
  // The bytes are valid UTF-8, so a lone surrogate can only come from a \u escape.
  if (text.includes("\\u") && !hasWholePairs(message)) {
    return problem("a string in the line has a lone surrogate");
  }
  return { ok: true, message };
}

/** Matches 100 digits in a row, or an exponent of three digits. A number that has neither is finite. */
const HUGE = /\d{100}|[eE]\+?\d{3}/;

function hasFiniteNumbers(message: Json): boolean {
  for (const value of valuesIn(message)) {
    if (typeof value === "number" && !Number.isFinite(value)) return false;
  }
  return true;
}

/** Returns whether every string in a value, including property names, is free of lone surrogates. */
export function hasWholePairs(message: Json): boolean {
  for (const value of valuesIn(message)) {
    if (typeof value === "string" && !isWellFormed(value)) return false;
  }
  return true;
}

/** Yields a value, all values nested in it, and all property names. */
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
