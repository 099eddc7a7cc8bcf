// What stored records look like, checked when they are read: a damaged one is an error of the database.

import { canonicalBytes, isObject, isTexts, type Json } from "../../bytes/json.js";
import { readHop } from "../../caveats/read-hop.js";

/** Whether a value that was read is of one shape. */
export type Shape = (value: unknown) => boolean;

/** An object, whose every member has its shape; what it has besides is not looked at. */
export function record<Kept>(
  members: {
    readonly [Name in keyof Required<Kept>]: Shape;
  },
): (value: unknown) => value is Kept {
  const shapes = Object.entries<Shape>(members);
  return (value): value is Kept =>
    isObject(value) && shapes.every(([name, fits]) => fits(value[name]));
}

export const text: Shape = (value) => typeof value === "string";
export const moment: Shape = Number.isSafeInteger;
export const texts: Shape = isTexts;
export const object: Shape = isObject;
export const isTrue: Shape = (value) => value === true;

/** A hop of a token; anything else would not be what was agreed. */
export function hop(value: unknown): boolean {
  try {
    // It was read as JSON.
    return readHop(canonicalBytes(value as Json)).ok;
  } catch {
    return false;
  }
}

/** One of the values of a type, all of which are named. */
export function oneOf<Value extends string>(values: { readonly [One in Value]: true }): Shape {
  return (value) => typeof value === "string" && Object.hasOwn(values, value);
}

/** What may be absent. */
export function maybe(fits: Shape): Shape {
  return (value) => value === undefined || fits(value);
}

export function listOf(fits: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(fits);
}

/** An object whose members, whatever their names, have one shape. */
export function mapOf(fits: Shape): Shape {
  return (value) => isObject(value) && Object.values(value).every(fits);
}
