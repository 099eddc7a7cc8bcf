import { nearest } from "../../caveats/nearest.js";
import { shown, shownList } from "../../caveats/scalar.js";
import type { QueryDenial } from "./resource.js";

/** The path of a condition: what a denial of it names. */
export function fieldPath(field: string): string {
  return `filter.${field}`;
}

/** Denies a query that names a collection that is not there. */
export function unknownCollection(name: string, known: readonly string[]): QueryDenial {
  return unknown("unknown_collection", "collection", `there is no collection ${shown(name)}`, {
    name,
    known,
  });
}

/** Denies a filter on a field that nothing in the collection has. */
export function unknownField(name: string, known: readonly string[]): QueryDenial {
  return unknown("unknown_field", fieldPath(name), `there is no field ${shown(name)}`, {
    name,
    known,
  });
}

/** Denies a query with a member that queries do not have. */
export function unknownMember(name: string, known: readonly string[]): QueryDenial {
  const what = `a resource query has no member ${shown(name)}`;
  return unknown("unknown_field", name, what, { name, known });
}

/** Denies a condition with an operator that is not there. */
export function unknownOperator(
  field: string,
  name: string,
  known: readonly string[],
): QueryDenial {
  const what = `${shown(fieldPath(field))} has the unknown operator ${shown(name)}`;
  return unknown("unknown_operator", fieldPath(field), what, { name, known });
}

/** Denies a condition without any operator. */
export function noOperator(field: string, known: readonly string[]): QueryDenial {
  const what = `${shown(fieldPath(field))} has no operator`;
  return unknown("unknown_operator", fieldPath(field), what, { name: "", known });
}

/** Denies a value that is not what it must be. */
export function invalidValue(path: string, message: string): QueryDenial {
  return { code: "invalid_value", path, known: [], message };
}

function unknown(
  code: QueryDenial["code"],
  path: string,
  what: string,
  { name, known }: { readonly name: string; readonly known: readonly string[] },
): QueryDenial {
  const near = nearest(name, known);
  const hint = near === undefined ? "" : `; did you mean ${shown(near)}?`;
  return { code, path, known, message: `${what}; known: ${shownList(known)}${hint}` };
}
