import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import type { Path } from "./edit.js";

/** Returns the value at a path of own properties and array elements; `undefined` if the path leads to none. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let at = value;
  for (const key of path) {
    if (at === undefined) return undefined;
    at = isJsonObject(at) ? ownMember(at, String(key)) : elementAt(at, key);
  }
  return at;
}

function ownMember(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function elementAt(value: Json, index: string | number): Json | undefined {
  return Array.isArray(value) && typeof index === "number" ? value[index] : undefined;
}

export function objectAt(value: Json | undefined, path: Path): JsonObject | undefined {
  const found = valueAt(value, path);
  return found !== undefined && isJsonObject(found) ? found : undefined;
}

export function listAt(value: Json | undefined, path: Path): readonly Json[] | undefined {
  const found = valueAt(value, path);
  return Array.isArray(found) ? found : undefined;
}

export function stringAt(value: Json | undefined, path: Path): string | undefined {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : undefined;
}

/** Returns an id or a progress token: a string or a number. */
export function tokenAt(value: Json | undefined, path: Path): string | number | undefined {
  const found = valueAt(value, path);
  return typeof found === "string" || typeof found === "number" ? found : undefined;
}

/** Copies an object without some of its properties. */
export function without(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
