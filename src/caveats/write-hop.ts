import { canonicalBytes, canonicalCopy, canonicalJson, type Json } from "../bytes/json.js";
import { meant } from "../checks/members.js";
import type { Hop, HopInit } from "./hop.js";
import { HOP_KEYS, HOP_RULES, isHopKey } from "./hop-rules.js";
import { hopFrom } from "./read-hop.js";

/**
 * Brings a hop into canonical form: sets sorted without repeats, times as text.
 *
 * @throws TypeError if a key or value is not one a hop may have; the message names it.
 */
export function normalizeHop(init: HopInit): Hop {
  return canonicalHop(init).hop;
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
  return canonicalHop(init).bytes;
}

/**
 * Brings a hop into canonical form, as a value and as the bytes of a caveat.
 *
 * @param accept - Throws for bytes that are too much work to judge.
 * @throws TypeError if a key or value is not one a hop may have; the message names it.
 */
export function canonicalHop(
  init: HopInit,
  accept: (bytes: Uint8Array) => void = () => {},
): { readonly hop: Hop; readonly bytes: Uint8Array } {
  const value = canonicalValue(init);
  const bytes = canonicalBytes(value);
  accept(bytes);
  const reading = hopFrom(value);
  if (reading.ok) return { hop: reading.hop, bytes };
  throw new TypeError(reading.problems.map((problem) => problem.message).join("; "));
}

function canonicalValue(init: HopInit): Json {
  if (typeof init !== "object" || init === null || Array.isArray(init)) {
    throw new TypeError("a hop must be an object");
  }
  const members: [string, Json][] = [];
  for (const [key, value] of Object.entries(init)) {
    if (value === undefined) {
      // Left out silently, it would not restrict what its author meant it to.
      throw new TypeError(`"${key}" is undefined; leave it out if it is not to restrict anything`);
    }
    if (!isHopKey(key)) throw unknownKey(key);
    members.push([key, memberValue(key, () => HOP_RULES[key].canonical(value))]);
  }
  if (members.length === 0) throw new TypeError("a hop must restrict or state something");
  return canonicalCopy(Object.fromEntries(members));
}

function unknownKey(key: string): TypeError {
  return new TypeError(`unknown key ${JSON.stringify(key)}${meant(key, HOP_KEYS)}`);
}

function memberValue(key: string, canonical: () => unknown): Json {
  try {
    const value = canonical() as Json;
    // Written one by one, so that what is not JSON is named with its key.
    canonicalJson(value);
    return value;
  } catch (error) {
    const why = error instanceof TypeError ? error.message : "it is nested too deep, or in itself";
    throw new TypeError(`"${key}" cannot be written: ${why}`);
  }
}
