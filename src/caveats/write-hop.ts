import { canonicalBytes, canonicalCopy, canonicalJson, type Json } from "../bytes/json.js";
import { knownMembers } from "../checks/members.js";
import { plainCopy } from "../checks/plain.js";
import type { Hop, HopInit } from "./hop.js";
import { HOP_KEYS, HOP_RULES, isHopKey } from "./hop-rules.js";
import { hopFrom } from "./read-hop.js";
import { copyOfDate } from "./time.js";

const TIMES: readonly string[] = ["expires", "notBefore"];

/**
 * Copies a hop made by a program. Every value must be plain data, or a `Date` for a time.
 *
 * @param where - The name of the hop in messages.
 * @throws TypeError that names the place, such as `hop.constraints.amount`.
 */
export function plainHop(init: HopInit, where = "hop"): HopInit {
  const own = Object.entries(knownMembers(init, HOP_KEYS, where));
  return Object.fromEntries(
    own.map(([key, value]) => [
      key,
      (TIMES.includes(key) && copyOfDate(value)) || plainCopy(value, `${where}.${key}`),
    ]),
  );
}

/**
 * Returns a hop in canonical form: sets sorted without duplicates, times as strings.
 *
 * @throws TypeError if a key or value is not allowed in a hop; the message names it.
 */
export function normalizeHop(init: HopInit): Hop {
  return canonicalHop(plainHop(init)).hop;
}

/**
 * Returns the canonical JSON (RFC 8785) of a hop as bytes, the content of a caveat.
 *
 * @throws TypeError if a key or value is not allowed in a hop; the message names it.
 *
 * @example
 * ```ts
 * import { encodeHop } from "proviso";
 *
 * new TextDecoder().decode(encodeHop({ operations: ["b", "a"], maxFurtherHops: 0 }));
 * // => '{"maxFurtherHops":0,"operations":["a","b"]}'
 * ```
 */
export function encodeHop(hop: HopInit): Uint8Array {
  return canonicalHop(plainHop(hop)).bytes;
}

/**
 * Returns the canonical form of a hop, as a value and as the bytes of a caveat.
 *
 * @param init - A result of {@link plainHop}.
 * @param accept - Called with the bytes before the hop is checked. Throws to refuse the hop.
 * @throws TypeError if a value is not allowed in a hop; the message names it.
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
  const entries = Object.entries(init).map(([key, value]): [string, Json] => {
    if (!isHopKey(key)) throw new TypeError(`a hop has no key ${JSON.stringify(key)}`);
    return [key, canonicalValueOf(key, () => HOP_RULES[key].canonical(value))];
  });
  if (entries.length === 0) {
    throw new TypeError(`a hop must have at least one of ${HOP_KEYS.join(", ")}`);
  }
  return canonicalCopy(Object.fromEntries(entries));
}

function canonicalValueOf(key: string, canonical: () => unknown): Json {
  try {
    const value = canonical() as Json;
    // Each property is encoded on its own, so that the error for a string without canonical form names the key.
    canonicalJson(value);
    return value;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TypeError(`"${key}" cannot be written: ${error.message}`);
  }
}
