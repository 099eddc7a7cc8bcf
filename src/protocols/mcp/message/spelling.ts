import type { JsonObject } from "../../../bytes/json.js";

/** Folds case as widely as the most lenient parser: `ſ` becomes `s`, and the Kelvin sign becomes `k`. */
export function folded(name: string): string {
  // Upper case comes first, because it maps characters such as the long s (ſ) to the same letter as s.
  return name.toUpperCase().toLowerCase();
}

/** The name of a property, and another name that differs from it only in case. */
export interface Misspelling {
  readonly name: string;
  readonly other: string;
}

/** Finds the first property whose name differs only in case from the name of an earlier property. */
export function otherSpelling(value: JsonObject): Misspelling | undefined {
  const seen = new Map<string, string>();
  for (const name of Object.keys(value)) {
    const other = seen.get(folded(name));
    if (other !== undefined) return { name, other };
    seen.set(folded(name), name);
  }
  return undefined;
}
