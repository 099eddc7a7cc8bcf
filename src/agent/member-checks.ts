import { nearest } from "../caveats/nearest.js";

/** @throws TypeError naming the first member that is not known. */
export function assertMembers(value: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`${where}.${unknown}: unknown member${meant(unknown, known)}`);
}

/** @throws TypeError naming what is not an array of non-empty texts. */
export function texts(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError(`${where}: must be an array of texts`);
  return value.map((item: unknown, at) => {
    if (typeof item === "string" && item !== "") return item;
    throw new TypeError(`${where}[${at}]: must be a text`);
  });
}

/** A hint at the name that was probably meant, as the end of a message. */
export function meant(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `; did you mean "${near}"?`;
  return known.length === 0 ? "" : `; there are ${known.join(", ")}`;
}
