import { decodeBase64 } from "../bytes/base64.js";
import { isJsonObject, type Json, type JsonObject, quotedName } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { encodeUtf8, isWellFormed } from "../bytes/utf8.js";

/** Returns a JSON value as an object whose properties are all in `known`; throws for any other value. */
export function readObject(value: Json, known: readonly string[], what: string): JsonObject {
  if (!isJsonObject(value)) throw new TokenError("json_type", `${what} is not a JSON object`);
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      const message = `${what} has an unknown property ${quotedName(name)}`;
      throw new TokenError("json_unknown_key", message);
    }
  }
  return value;
}

/** Returns a string property; `undefined` if the property is absent. */
export function readText(object: JsonObject, name: string): string | undefined {
  if (!Object.hasOwn(object, name)) return undefined;
  const value = object[name];
  if (typeof value !== "string") throw new TokenError("json_type", `"${name}" is not a string`);
  if (!isWellFormed(value)) {
    throw new TokenError("utf8_invalid", `"${name}" has a lone surrogate, so no UTF-8 form`);
  }
  return value;
}

/** Returns an array property; an empty array if the property is absent. */
export function readArray(object: JsonObject, name: string): readonly Json[] {
  if (!Object.hasOwn(object, name)) return [];
  const value = object[name];
  if (!Array.isArray(value)) throw new TokenError("json_type", `"${name}" is not an array`);
  return value;
}

/**
 * Returns the bytes that an object has as a string under `name`, or as base64 under `name` + "64". Throws if it has
 * both.
 */
export function readBytes(object: JsonObject, name: string): Uint8Array | undefined {
  const text = readText(object, name);
  const base64 = readText(object, `${name}64`);
  if (text !== undefined && base64 !== undefined) {
    throw new TokenError("json_both_encodings", `both "${name}" and "${name}64" are given`);
  }
  if (base64 !== undefined) return decodeBase64(base64);
  return text === undefined ? undefined : encodeUtf8(text);
}

/** Returns the value of a property. Throws if the property is absent. */
export function present<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new TokenError("field_missing", `"${name}" is missing`);
  return value;
}
