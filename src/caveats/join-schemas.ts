import { isJsonObject, isTexts, type Json, type JsonObject } from "../bytes/json.js";
import { oneOrAll } from "./domain-schema.js";

/**
 * Returns a JSON Schema for the values that satisfy both schemas. It keeps every keyword of `theirs`. If both schemas
 * have a keyword and one value of it can express both, the keyword gets that value; otherwise the keyword of `ours`
 * goes into `allOf`. A malformed `theirs` is returned unchanged.
 *
 * @param theirs - A schema of another party, of any form.
 */
export function joinSchemas(theirs: Json, ours: JsonObject): Json {
  if (theirs === true) return ours;
  if (!isJsonObject(theirs)) return theirs;
  const joined = new Map(Object.entries(theirs));
  const apart = new Map<string, Json>();
  for (const [keyword, own] of Object.entries(ours)) {
    const other = joined.get(keyword);
    const isNew = other === undefined || other === own;
    const both = isNew ? own : JOINS.get(keyword)?.(other, own);
    if (both === undefined) apart.set(keyword, own);
    else joined.set(keyword, both);
  }
  if (apart.size > 0) {
    const before = joined.get("allOf") ?? [];
    if (!Array.isArray(before)) return theirs;
    joined.set("allOf", [...before, Object.fromEntries(apart)]);
  }
  return Object.fromEntries(joined);
}

type Join = (theirs: Json, ours: Json) => Json | undefined;

/** Functions that join two values of a keyword; they return `undefined` if no single value can express both. */
const JOINS: ReadonlyMap<string, Join> = new Map<string, Join>([
  ["maximum", bound(Math.min)],
  ["maxItems", bound(Math.min)],
  ["minimum", bound(Math.max)],
  ["minItems", bound(Math.max)],
  ["enum", shared],
  ["items", joinItems],
  ["type", joinTypes],
]);

function bound(pick: (a: number, b: number) => number): Join {
  return (theirs, ours) =>
    typeof theirs === "number" && typeof ours === "number" ? pick(theirs, ours) : undefined;
}

function shared(theirs: Json, ours: Json): Json | undefined {
  if (!Array.isArray(theirs) || !Array.isArray(ours)) return undefined;
  const both = theirs.filter((value) => ours.includes(value));
  return both.length === 0 ? undefined : both;
}

function joinItems(theirs: Json, ours: Json): Json | undefined {
  return Array.isArray(theirs) || !isJsonObject(ours) ? undefined : joinSchemas(theirs, ours);
}

function joinTypes(theirs: Json, ours: Json): Json | undefined {
  const [some, others] = [typesIn(theirs), typesIn(ours)];
  const both = some.filter(
    (type) => others.includes(type) || (type === "integer" && others.includes("number")),
  );
  return both.length === 0 ? undefined : oneOrAll(both);
}

function typesIn(keyword: Json): readonly string[] {
  if (typeof keyword === "string") return [keyword];
  return isTexts(keyword) ? keyword : [];
}
