import { canonicalBytes, canonicalJson, type Json, type JsonObject } from "../bytes/json.js";
import { HOP_KEYS, type Hop, type HopInit } from "./hop.js";
import { nearest } from "./nearest.js";
import { readHop } from "./read-hop.js";
import { isScalar } from "./scalar.js";
import { formatTime } from "./time.js";

const SET_KEYS = ["operations", "resourceHandles", "audience", "invokers"] as const;

/**
 * Brings a hop into canonical form: sets sorted without repeats, times as text.
 *
 * @throws TypeError if a key or value is not one a hop may have; the message names it.
 *
 * @example
 * ```ts
 * import { normalizeHop } from "proviso";
 *
 * const hop = normalizeHop({ operations: ["search", "retrieve", "search"] });
 * hop.operations; // => ["retrieve", "search"]
 * ```
 */
export function normalizeHop(init: HopInit): Hop {
  const reading = readHop(hopBytes(init));
  if (reading.ok) return reading.hop;
  throw new TypeError(reading.problems.map((problem) => problem.message).join("; "));
}

/**
 * The canonical bytes of a hop (RFC 8785), as they stand in a caveat.
 *
 * @throws TypeError if a key or value is not one a hop may have; the message names it.
 *
 * @example
 * ```ts
 * import { encodeHop } from "proviso";
 *
 * new TextDecoder().decode(encodeHop({ operations: ["b", "a"], maxFurtherHops: 0 }));
 * // => '{"maxFurtherHops":0,"operations":["a","b"]}'
 * ```
 */
export function encodeHop(init: HopInit): Uint8Array {
  return hopBytes(normalizeHop(init));
}

function hopBytes(init: HopInit): Uint8Array {
  if (typeof init !== "object" || init === null || Array.isArray(init)) {
    throw new TypeError("a hop must be an object");
  }
  const members: [string, Json][] = [];
  for (const [key, value] of Object.entries(init)) {
    if (value === undefined) {
      // Left out silently, it would not restrict what its author meant it to.
      throw new TypeError(`"${key}" is undefined; leave it out if it is not to restrict anything`);
    }
    if (!HOP_KEYS.some((known) => known === key)) throw unknownKey(key);
    members.push([key, jsonMember(key, value)]);
  }
  if (members.length === 0) throw new TypeError("a hop must restrict or state something");
  return canonicalBytes(Object.fromEntries(members));
}

function unknownKey(key: string): TypeError {
  const near = nearest(key, HOP_KEYS);
  const hint =
    near === undefined ? `a hop may have ${HOP_KEYS.join(", ")}` : `did you mean "${near}"?`;
  return new TypeError(`unknown key ${JSON.stringify(key)}; ${hint}`);
}

function jsonMember(key: string, value: unknown): Json {
  try {
    const member = canonicalMember(key, value);
    canonicalJson(member);
    return member;
  } catch (error) {
    const why = error instanceof TypeError ? error.message : "it is nested too deep, or in itself";
    throw new TypeError(`"${key}" can not be written: ${why}`);
  }
}

function canonicalMember(key: string, value: unknown): Json {
  if (value instanceof Date) {
    const milliseconds = value.getTime();
    return formatTime(key === "notBefore" ? milliseconds + 999 : milliseconds);
  }
  if (Array.isArray(value) && SET_KEYS.some((known) => known === key)) {
    return [...new Set<string>(value)].sort(byCodeUnits);
  }
  if (key !== "constraints" || !isPlainObject(value)) return value as Json;
  const limits = Object.entries(value);
  return Object.fromEntries(limits.map(([name, limit]) => [name, canonicalLimit(limit)]));
}

function canonicalLimit(limit: Json): Json {
  if (!isPlainObject(limit)) return limit;
  const operators = Object.entries(limit);
  return Object.fromEntries(
    operators.map(([operator, operand]) => [
      operator,
      Array.isArray(operand) ? sortedScalars(operand) : operand,
    ]),
  );
}

function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sortedScalars(values: readonly Json[]): Json[] {
  // What is no scalar is left in its place for the reader to refuse.
  if (!values.every(isScalar)) return [...values];
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...byText].sort(([a], [b]) => byCodeUnits(a, b)).map(([, value]) => value);
}

/** The order of sets: by UTF-16 code units, as RFC 8785 sorts names. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
