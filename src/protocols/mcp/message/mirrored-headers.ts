// Revision 2026-07-28, "Request Metadata": HTTP headers that repeat parts of a request's body.

import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { decodeUtf8 } from "../../../bytes/utf8.js";
import { objectAt, stringAt, valueAt } from "./values.js";

/** The property of `params` that the header `Mcp-Name` repeats, by method. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

const PARAM = "mcp-param-";
const PLAIN = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/;
const SENTINEL = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const DECIMAL = /^-?\d+(\.0*)?$/;

/** Headers by their names in lower case. */
export type Headers = { readonly [name: string]: string };

/** Maps the name of each header that repeats an argument, in lower case, to the argument's path in `arguments`. */
export type MirroredParameters = ReadonlyMap<string, readonly string[]>;

/** Returns the value that `Mcp-Name` repeats; `undefined` if the method has no such value, or the body lacks it. */
export function namedIn(method: string, value: JsonObject): string | undefined {
  const property = NAMED.get(method);
  return property === undefined ? undefined : stringAt(value, ["params", property]);
}

/** Encodes a header value: unchanged, or as base64 between `=?base64?` and `?=`. */
export function headerValue(value: string): string {
  if (PLAIN.test(value) && !SENTINEL.test(value)) return value;
  return `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** Decodes a value of {@link headerValue}; `undefined` if the header has invalid characters or malformed base64. */
export function readHeaderValue(header: string): string | undefined {
  const [, coded] = SENTINEL.exec(header) ?? [];
  if (coded === undefined) return PLAIN.test(header) ? header : undefined;
  return BASE64.test(coded) ? decodeUtf8(Buffer.from(coded, "base64")) : undefined;
}

/** Returns the `Mcp-Param-*` headers, which repeat arguments of a tool. */
export function parameterHeaders(headers: {
  readonly [name: string]: string | readonly string[] | undefined;
}): Headers {
  const found: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(PARAM) && value !== undefined) found[name] = [value].flat().join(", ");
  }
  return found;
}

/**
 * Returns the arguments that a tool's `x-mcp-header` annotations name. Looks for annotations only in nested
 * `properties`.
 */
export function mirroredParameters(inputSchema: JsonObject): MirroredParameters {
  const found = new Map<string, readonly string[]>();
  const waiting: { schema: JsonObject; path: readonly string[] }[] = [
    { schema: inputSchema, path: [] },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { schema, path } = next;
    const header = schema["x-mcp-header"];
    if (typeof header === "string" && TOKEN.test(header) && path.length > 0) {
      found.set(`${PARAM}${header.toLowerCase()}`, path);
    }
    const properties = objectAt(schema, ["properties"]) ?? {};
    for (const [name, inner] of Object.entries(properties)) {
      if (isJsonObject(inner)) waiting.push({ schema: inner, path: [...path, name] });
    }
  }
  return found;
}

/** Returns the headers that repeat arguments of a call. */
export function headersOf(value: JsonObject, parameters: MirroredParameters): Headers {
  const headers: { [name: string]: string } = {};
  for (const [name, path] of parameters) {
    const text = textOf(valueAt(value, ["params", "arguments", ...path]));
    if (text !== undefined) headers[name] = headerValue(text);
  }
  return headers;
}

/** Returns the name of the first header that does not agree with the arguments of a call; `undefined` if all agree. */
export function disagreeing(
  headers: Headers,
  value: JsonObject,
  parameters: MirroredParameters,
): string | undefined {
  for (const [name, path] of parameters) {
    const argument = valueAt(value, ["params", "arguments", ...path]);
    const header = headers[name];
    const isAbsent = textOf(argument) === undefined;
    if (header === undefined ? !isAbsent : isAbsent || !repeats(header, argument)) return name;
  }
  return undefined;
}

/** Returns whether a header repeats an argument; for an integer, `42.0` and `42` are the same. */
function repeats(header: string, argument: Json | undefined): boolean {
  const given = readHeaderValue(header);
  if (given === undefined) return false;
  if (typeof argument === "number") return DECIMAL.test(given) && Number(given) === argument;
  return given === textOf(argument);
}

/** Returns an argument as the text of a header; `undefined` for a value that no header repeats. */
function textOf(argument: Json | undefined): string | undefined {
  if (typeof argument === "string") return argument;
  const isPlain = typeof argument === "boolean" || Number.isSafeInteger(argument);
  return isPlain ? String(argument) : undefined;
}
