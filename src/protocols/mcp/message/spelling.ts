import type { JsonObject } from "../../../bytes/json.js";

/** Folds case as widely as the most lenient parser: `ſ` becomes `s`, and the Kelvin sign becomes `k`. */
export function folded(name: string): string {
  // Upper case comes first, because it maps characters such as the long s (ſ) to the same letter as s.
  return name.toUpperCase().toLowerCase();
}

/** Returns the first property whose name differs only in case from the name of an earlier property. */
export function otherSpelling(value: JsonObject): string | undefined {
  const seen = new Set<string>();
  for (const name of Object.keys(value)) {
    if (seen.has(folded(name))) return name;
    seen.add(folded(name));
  }
  return undefined;
}
