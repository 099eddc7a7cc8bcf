import { nearest } from "./nearest.js";

/**
 * Refuses what is not an object, and an object with a member that is not known: misspelt, it would pass for an absent one.
 *
 * @param where - What the object is, such as `options` or `policy.rules[2]`; empty for the whole.
 * @throws TypeError if the value is not an object; else naming the first such member, and the known one that was
 *   probably meant.
 */
export function assertMembers(
  value: unknown,
  known: readonly string[],
  where: string,
): asserts value is object {
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`${where === "" ? "it" : where}: not an object`);
  }
  for (const name in value) {
    if (known.includes(name) || !Object.hasOwn(value, name)) continue;
    const path = where === "" ? name : `${where}.${name}`;
    throw new TypeError(`${path}: unknown member${meant(name, known)}`);
  }
}

/** A hint at the name that was probably meant, as the end of a message. */
export function meant(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `; did you mean "${near}"?`;
  return known.length === 0 ? "" : `; there are ${known.join(", ")}`;
}
