import { shown, shownList } from "../../caveats/scalar.js";
import { nearest } from "../../checks/nearest.js";
import type { QueryDenial } from "./resource.js";

/** The path of a condition: what a denial of it names. */
export function fieldPath(field: string): string {
  return `filter.${field}`;
}

/** Denies a query that names a collection that is not there. */
export function unknownCollection(name: string, known: readonly string[]): QueryDenial {
  const what = `there is no collection ${shown(name)}`;
  return unknownName("unknown_collection", "collection", what, name, known);
}

/** Denies a value that is not what it must be. */
export function invalidValue(path: string, message: string): QueryDenial {
  return { code: "invalid_value", path, known: [], message };
}

/** Denies an unknown name. @param what - How the message begins; known and meant names are added. */
export function unknownName(
  code: QueryDenial["code"],
  path: string,
  what: string,
  name: string,
  known: readonly string[],
): QueryDenial {
  const near = nearest(name, known);
  const hint = near === undefined ? "" : `; did you mean ${shown(near)}?`;
  return { code, path, known, message: `${what}; known: ${shownList(known)}${hint}` };
}
