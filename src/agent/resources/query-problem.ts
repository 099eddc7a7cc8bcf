import { nearest } from "../../caveats/nearest.js";
import { shown, shownList } from "../../caveats/scalar.js";
import type { QueryProblem } from "./resource.js";

/** Where a problem with a field's condition is. */
export function fieldPath(field: string): string {
  return `filter.${field}`;
}

/** The problem of a query that names a collection that is not there. */
export function unknownCollection(name: string, known: readonly string[]): QueryProblem {
  return unknown("unknown_collection", "collection", `there is no collection ${shown(name)}`, {
    name,
    known,
  });
}

/** The problem of a filter on a field that nothing in the collection has. */
export function unknownField(name: string, known: readonly string[]): QueryProblem {
  return unknown("unknown_field", fieldPath(name), `there is no field ${shown(name)}`, {
    name,
    known,
  });
}

/** The problem of a query with a member that queries do not have. */
export function unknownMember(name: string, known: readonly string[]): QueryProblem {
  const what = `a resource query has no member ${shown(name)}`;
  return unknown("unknown_field", name, what, { name, known });
}

/** The problem of a condition with an operator that is not there. */
export function unknownOperator(
  field: string,
  name: string,
  known: readonly string[],
): QueryProblem {
  const what = `${shown(fieldPath(field))} has the unknown operator ${shown(name)}`;
  return unknown("unknown_operator", fieldPath(field), what, { name, known });
}

/** The problem of a condition without any operator. */
export function noOperator(field: string, known: readonly string[]): QueryProblem {
  const what = `${shown(fieldPath(field))} has no operator`;
  return unknown("unknown_operator", fieldPath(field), what, { name: "", known });
}

/** The problem of a value that is not what it must be. */
export function invalidValue(path: string, message: string): QueryProblem {
  return { code: "invalid_value", path, known: [], message };
}

function unknown(
  code: QueryProblem["code"],
  path: string,
  what: string,
  { name, known }: { readonly name: string; readonly known: readonly string[] },
): QueryProblem {
  const near = nearest(name, known);
  const hint = near === undefined ? "" : `; did you mean ${shown(near)}?`;
  return { code, path, known, message: `${what}; known: ${shownList(known)}${hint}` };
}
