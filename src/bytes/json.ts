// The lowest folder, which imports no other folder of src: bytes and strings, base64, UTF-8, JSON, a cursor, random
// bytes, TokenError. This file reads and writes JSON.

import { encodeUtf8, isWellFormed } from "./utf8.js";

/** A JSON value as `JSON.parse` returns it. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

/** An object of JSON values; arrays and `null` are not objects. */
export type JsonObject = { readonly [name: string]: Json };

export function isJsonObject(value: Json): value is JsonObject {
  return isObject(value);
}

/** Returns whether a value is an object, and neither `null` nor an array. */
export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a value is an array of strings. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/**
 * Formats a value by the JSON Canonicalization Scheme (RFC 8785): properties sorted by UTF-16 code units, numbers as
 * in ECMAScript, no white space. Properties that are `undefined` are left out, as by `JSON.stringify`.
 *
 * @throws TypeError for a value without a canonical form: a number that is not finite, a lone surrogate, a function,
 *   `undefined`, or an array that contains `undefined`.
 */
export function canonicalJson(value: Json): string {
  return formOf(value);
}

function formOf(value: Json | undefined): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (typeof value === "string") {
    if (!isWellFormed(value))
      throw new TypeError("a string with a lone surrogate has no UTF-8 form");
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    let items = "";
    // Array methods would skip holes, which must be refused.
    for (let at = 0; at < value.length; at++) {
      items += `${at === 0 ? "" : ","}${formOf(value[at])}`;
    }
    return `[${items}]`;
  }
  if (value === undefined) throw new TypeError("undefined has no JSON form");
  if (!isJsonObject(value)) throw new TypeError(`a ${typeof value} has no JSON form`);
  let members = "";
  for (const name of Object.keys(value).sort()) {
    const member: Json | undefined = value[name];
    if (member === undefined) continue;
    members += `${members === "" ? "" : ","}${formOf(name)}:${formOf(member)}`;
  }
  return `{${members}}`;
}

/**
 * Parses a string in canonical form (RFC 8785); `undefined` for JSON in any other form.
 *
 * @throws SyntaxError if the string is not JSON, and TypeError as {@link canonicalJson} does.
 */
export function readCanonicalJson(text: string): Json | undefined {
  const value: Json = JSON.parse(text);
  return canonicalJson(value) === text ? value : undefined;
}

/** Returns the value that would be parsed from the canonical form: properties sorted, no negative zero. */
export function canonicalCopy(value: Json): Json {
  if (value === 0) return 0;
  if (Array.isArray(value)) return value.map(canonicalCopy);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .flatMap((name) => {
        const member: Json | undefined = value[name];
        return member === undefined ? [] : [[name, canonicalCopy(member)]];
      }),
  );
}

const MAX_NAME_LENGTH = 24;

/**
 * Formats a name from a token for a message: quoted and shortened, with control and format characters escaped
 * or replaced.
 */
export function quotedName(name: string): string {
  const start = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}...` : name;
  return JSON.stringify(start).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

/** Returns the UTF-8 bytes of {@link canonicalJson}. */
export function canonicalBytes(value: Json): Uint8Array {
  return encodeUtf8(canonicalJson(value));
}

/**
 * Returns whether arrays and objects are nested deeper than `depth`. Walks level by level instead of recursively, so
 * any depth is safe.
 */
export function isDeeperThan(value: unknown, depth: number): boolean {
  let level: readonly unknown[] = [value];
  for (let deep = 0; level.length > 0; deep++) {
    const inner = level.filter((one) => typeof one === "object" && one !== null);
    if (inner.length > 0 && deep >= depth) return true;
    level = inner.flatMap((one): unknown[] => Object.values(one));
  }
  return false;
}

/** Yields every string in a value, property names included. Does not recurse, so any depth is safe. */
export function* textsIn(value: unknown): Generator<string> {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string") yield next;
    else if (Array.isArray(next)) for (const item of next) waiting.push(item);
    else if (typeof next === "object" && next !== null) {
      for (const [name, inner] of Object.entries(next)) waiting.push(name, inner);
    }
  }
}

/** Measurements of a string that may or may not be JSON, made without parsing it. */
export interface JsonOutline {
  /** Deepest nesting of `{` and `[` outside strings. */
  readonly depth: number;
  /** Length of the longest array, in elements; an empty array counts as one element. */
  readonly longestArray: number;
  /** `true` if the input ends inside a string, an array or an object. */
  readonly open: boolean;
}

/** Measures the nesting and the longest array in one pass, so that limits can be enforced before anything is parsed. */
export function outlineJson(text: string): JsonOutline {
  return outlineBytes(encodeUtf8(text));
}

/**
 * Measures UTF-8 bytes as {@link outlineJson} measures a string. No decoding is needed, since all structural
 * characters of JSON are ASCII.
 */
export function outlineBytes(text: Uint8Array): JsonOutline {
  const counts: number[] = [];
  let depth = 0;
  let longestArray = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text[i];
    if (code === 0x22) {
      i = endOfString(text, i + 1);
      inString = i === text.length;
    } else if (code === 0x5b || code === 0x7b) {
      counts.push(code === 0x5b ? 1 : Number.NEGATIVE_INFINITY);
      if (counts.length > depth) depth = counts.length;
      if (code === 0x5b && longestArray < 1) longestArray = 1;
    } else if (code === 0x5d || code === 0x7d) counts.pop();
    else if (code === 0x2c && counts.length > 0) {
      const count = (counts[counts.length - 1] ?? 0) + 1;
      counts[counts.length - 1] = count;
      if (count > longestArray) longestArray = count;
    }
  }
  return { depth, longestArray, open: inString || counts.length > 0 };
}

/**
 * Returns the index of the quote that ends the string whose content begins at `start`; the length of `text` if there
 * is no such quote.
 */
function endOfString(text: Uint8Array, start: number): number {
  for (let i = start; i < text.length; i++) {
    const code = text[i];
    if (code === 0x22) return i;
    if (code === 0x5c) i++;
  }
  return text.length;
}

/** Longest name that a message quotes, in characters: a root key in base64url has 43, so it is never quoted. */
const LONGEST_NAME = 24;

/**
 * Refuses a JSON text with a duplicate property, of which `JSON.parse` silently keeps the last.
 *
 * @param text - A string that `JSON.parse` accepts.
 * @throws TypeError with the line of the second occurrence. The message names the property, unless the name is so
 *   long that it could be a misplaced secret.
 */
export function assertNoTwin(text: string): void {
  const twin = duplicateKey(text);
  if (twin === undefined) return;
  const line = text.slice(0, twin.offset).split("\n").length;
  const name = twin.key.length > LONGEST_NAME ? "a property" : JSON.stringify(twin.key);
  throw new TypeError(`line ${line}: ${name} is there twice; keep one of the two`);
}

/**
 * Returns the index of the quote that ends the string whose content begins at `start`; the length of `text` if there
 * is no such quote.
 */
export function closingQuote(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '"') return i;
    if (character === "\\") i++;
  }
  return text.length;
}

/**
 * Returns the first duplicate property of an object in `text`, and the offset of its second occurrence. `text`
 * must be valid JSON.
 */
export function duplicateKey(text: string): { key: string; offset: number } | undefined {
  const open: (Set<string> | undefined)[] = [];
  let nameNext = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '"') {
      const start = i;
      i = closingQuote(text, i + 1);
      const names = open[open.length - 1];
      if (nameNext && names !== undefined) {
        const key: unknown = JSON.parse(text.slice(start, i + 1));
        if (typeof key === "string") {
          if (names.has(key)) return { key, offset: start };
          names.add(key);
        }
        nameNext = false;
      }
    } else if (character === "{") {
      open.push(new Set());
      nameNext = true;
    } else if (character === "[") open.push(undefined);
    else if (character === "}" || character === "]") open.pop();
    else if (character === ",") nameNext = open[open.length - 1] !== undefined;
  }
  return undefined;
}
