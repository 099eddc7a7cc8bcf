import { canonicalJson, type Json } from "../bytes/json.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { meant } from "../checks/members.js";
import type { Hop, HopInit } from "./hop.js";
import { HOP_KEYS, HOP_RULES, isHopKey } from "./hop-rules.js";
import { readHop } from "./read-hop.js";

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
 * A hop in canonical form, as a value and as the bytes of a caveat.
 *
 * @param accept - Throws for bytes that are too much work to read.
 * @throws TypeError if a key or value is not one a hop may have; the message names it.
 */
export function canonicalHop(
  init: HopInit,
  accept: (bytes: Uint8Array) => void = () => {},
): { readonly hop: Hop; readonly bytes: Uint8Array } {
  const bytes = hopBytes(init);
  accept(bytes);
  const reading = readHop(bytes);
  if (reading.ok) return { hop: reading.hop, bytes };
  throw new TypeError(reading.problems.map((problem) => problem.message).join("; "));
}

function hopBytes(init: HopInit): Uint8Array {
  if (typeof init !== "object" || init === null || Array.isArray(init)) {
    throw new TypeError("a hop must be an object");
  }
  const members: string[] = [];
  for (const [key, value] of Object.entries(init)) {
    if (value === undefined) {
      // Left out silently, it would not restrict what its author meant it to.
      throw new TypeError(`"${key}" is undefined; leave it out if it is not to restrict anything`);
    }
    if (!isHopKey(key)) throw unknownKey(key);
    members.push(`"${key}":${memberText(key, () => HOP_RULES[key].canonical(value))}`);
  }
  if (members.length === 0) throw new TypeError("a hop must restrict or state something");
  // The quote at the end of a name comes before all letters, so that this is the order of the names.
  return encodeUtf8(`{${members.sort().join(",")}}`);
}

function unknownKey(key: string): TypeError {
  return new TypeError(`unknown key ${JSON.stringify(key)}${meant(key, HOP_KEYS)}`);
}

function memberText(key: string, canonical: () => unknown): string {
  try {
    // Written one by one, so that what is not JSON is named with its key.
    return canonicalJson(canonical() as Json);
  } catch (error) {
    const why = error instanceof TypeError ? error.message : "it is nested too deep, or in itself";
    throw new TypeError(`"${key}" cannot be written: ${why}`);
  }
}
