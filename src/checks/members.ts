import { described } from "./kinds.js";
import { nearest } from "./nearest.js";
import { NotPlainError, plainObject } from "./plain.js";

/**
 * Throws unless `value` is a plain object with known properties only, so that a misspelt option is not ignored.
 *
 * @param where - The name of the object in messages, such as `options` or `policy.rules[2]`; empty for the whole
 *   value.
 * @throws TypeError naming the property that is not plain or not known; for an unknown property, the message also
 *   suggests the name that was probably meant.
 */
export function assertMembers(
  value: unknown,
  known: readonly string[],
  where: string,
): asserts value is object {
  knownMembers(value, known, where);
}

/**
 * Copies a plain object with known properties only. Each property is read once.
 *
 * @throws TypeError as {@link assertMembers} does.
 */
export function knownMembers<T>(value: T, known: readonly string[], where: string): T & object {
  if (typeof value !== "object" || value === null) {
    const accepted = known.length === 0 ? "" : ` with ${known.join(", ")}`;
    throw new NotPlainError(
      `${where || "it"} must be a plain object${accepted}, not ${described(value)}`,
    );
  }
  const own = plainObject(value, where);
  assertKnown(own, known, where);
  return own;
}

/**
 * Throws unless the own properties of `value` are known. `value` may be an instance of a class, such as a skill whose
 * `run` is a method.
 *
 * @throws TypeError if `value` is not an object or has an unknown property; the message names the unknown property,
 *   and suggests the name that was probably meant.
 */
export function assertKnown(
  value: unknown,
  known: readonly string[],
  where: string,
): asserts value is object {
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`${where || "it"} must be an object, not ${described(value)}`);
  }
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    const path = where === "" ? name : `${where}.${name}`;
    throw new TypeError(`${path}: unknown property${meant(name, known)}`);
  }
}

/** Returns the end of a message about an unknown name: the name that was probably meant, or else all known names. */
export function meant(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `; did you mean "${near}"?`;
  return known.length === 0 ? "" : `; there are ${known.join(", ")}`;
}
