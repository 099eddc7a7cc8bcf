import type { JsonObject } from "../bytes/json.js";

// An agent's answer may be any JSON. It is read leniently: a value of the wrong type counts as absent.

/** Returns the value if it is an object; otherwise, an empty object. */
export function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the objects in an array; an empty array for any other value. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return itemsIn(value).filter(isObject);
}

/** Returns the strings in an array; an empty array for any other value. */
export function textsIn(value: unknown): readonly string[] {
  return itemsIn(value).filter((item) => typeof item === "string");
}

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function itemsIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
