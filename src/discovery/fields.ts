import type { Json, JsonObject } from "../bytes/json.js";
import { objectIn } from "../client/received.js";
import { type Faults, pointer, shown, shownPath } from "./faults.js";

/** A value in a card, and its place. */
export interface Field<Value = Json> {
  /** JSON Pointer to the value in the card. */
  readonly path: string;
  readonly value: Value;
}

/** An object in a card, and its place. */
export type Holder = Field<JsonObject>;

/**
 * Returns every occurrence of a field in the holders, in camelCase or snake_case. A field that is `null` is
 * absent.
 * @param name - The field's name in camelCase.
 */
export function fieldsOf(holders: readonly Holder[], name: string): readonly Field[] {
  return holders.flatMap(({ path, value }) =>
    [...new Set([name, snakeCase(name)])].flatMap((spelling): Field[] => {
      const found = Object.hasOwn(value, spelling) ? value[spelling] : undefined;
      return found === undefined || found === null
        ? []
        : [{ path: pointer(path, spelling), value: found }];
    }),
  );
}

/** Returns the array of a property. It is a contradiction if the property exists in both camelCase and snake_case. */
export function listAt(
  holder: Holder,
  name: string,
  faults: Faults,
): Field<readonly Json[]> | undefined {
  const [first, second] = ofKind(fieldsOf([holder], name), isList, "an array", faults);
  if (first !== undefined && second !== undefined) {
    faults.add("contradiction", second.path, `it is there twice; the other is at ${first.path}`);
  }
  return first;
}

/** Returns the first occurrence. Reports a fault for each occurrence with a different value. */
export function agreed<Value>(
  places: readonly Field<Value>[],
  same: (a: Value, b: Value) => boolean,
  faults: Faults,
  words: (value: Value) => string,
): Field<Value> | undefined {
  const [first, ...others] = places;
  if (first === undefined) return undefined;
  for (const { path, value } of others) {
    if (same(first.value, value)) continue;
    const message = `says ${words(value)}, and ${shownPath(first.path)} says ${words(first.value)}`;
    faults.add("contradiction", path, message);
  }
  return first;
}

/** Returns the occurrences whose value has the right type. Reports a fault for each value of another type. */
export function ofKind<Value extends Json>(
  places: readonly Field[],
  is: (value: Json) => value is Value,
  kind: string,
  faults: Faults,
): readonly Field<Value>[] {
  return places.flatMap(({ path, value }): Field<Value>[] => {
    if (is(value)) return [{ path, value }];
    faults.add("kind", path, `expected ${kind}, not ${shown(value)}`, { expected: kind });
    return [];
  });
}

export function isText(value: Json): value is string {
  return typeof value === "string";
}

export function isFlag(value: Json): value is boolean {
  return typeof value === "boolean";
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * Returns the elements of an array as objects. An element that is not an object becomes an empty object, so that the
 * indexes stay the same.
 */
export function listIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}

/** Converts `streamingMessage` to `streaming_message`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Converts `streaming_message` to `streamingMessage`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Compares two JSON values of small depth, ignoring the order of properties. */
export function isSameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a === undefined || b === undefined || Array.isArray(a) !== Array.isArray(b)) return false;
  if (isList(a) && isList(b)) {
    return a.length === b.length && a.every((item, at) => isSameJson(item, b[at]));
  }
  const [left, right] = [Object.entries(a), Object.entries(b)];
  const other = new Map<string, Json>(right);
  return (
    left.length === right.length &&
    left.every(([name, value]) => other.has(name) && isSameJson(value, other.get(name)))
  );
}
