import type { JsonObject } from "../bytes/json.js";

// What came from an agent is JSON of any shape, and is read leniently: what is not of the kind wanted is
// as if it were not there.

/** An object; empty for anything else. */
export function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects in an array; empty for anything else. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return itemsIn(value).filter(isObject);
}

/** The texts in an array; empty for anything else. */
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
