// src/protocols/mcp/message: reads and edits the text of JSON-RPC messages. The gate checks a text once and changes
// only the parts that must change, so that a server reads what the gate has judged.

import {
  duplicateKey,
  isJsonObject,
  isObject,
  type Json,
  type JsonObject,
  outlineBytes,
  quotedName,
  textsIn,
} from "../../../bytes/json.js";
import { jsonRpcEnds } from "../../../bytes/json-rpc-ends.js";
import { decodeUtf8, encodeUtf8, isWellFormed } from "../../../bytes/utf8.js";
import { INVALID_REQUEST, PARSE_ERROR } from "./error-codes.js";
import { otherSpelling } from "./spelling.js";
import { objectAt, stringAt } from "./values.js";

/** A JSON-RPC message whose text has been checked, so that every parser reads the same value from the text. */
export interface Message {
  /** The text as received, except for tokens that the gate has removed. */
  readonly text: string;
  readonly value: JsonObject;
  readonly kind: "request" | "notification" | "response";
  /** The id of a request or a response: a string, or an integer that a double holds exactly. */
  readonly id?: string | number | undefined;
  /** The method of a request or a notification. */
  readonly method?: string | undefined;
}

/** A message, or the JSON-RPC error that refuses it. */
export type ReadMessage = { readonly ok: true; readonly message: Message } | RefusedMessage;

interface RefusedMessage {
  readonly ok: false;
  /** The id of the refused message; `null` if the message has no readable id. */
  readonly id: string | number | null;
  /**
   * `true` if the refused message is a result or an error. Nobody may answer such a message; the sender of the request
   * waits for it.
   */
  readonly isAnswer: boolean;
  readonly code: number;
  /** A clause, such as `the message is not JSON`. */
  readonly reason: string;
}

/** Limits of a message. */
export interface MessageLimits {
  /** Maximum size of the text, in bytes. */
  readonly bytes: number;
  /** Maximum nesting depth of arrays and objects. */
  readonly depth: number;
  /**
   * `true` allows lone surrogates, which some servers write when they cut a string. A message that the gate judges must
   * not have lone surrogates, because parsers replace them differently.
   */
  readonly halfPairs: boolean;
}

/** Limits of the messages of a host. */
export const HOST_LIMITS: MessageLimits = { bytes: 4 * 1024 * 1024, depth: 64, halfPairs: false };

/** Limits of the messages of a server. */
export const SERVER_LIMITS: MessageLimits = { ...HOST_LIMITS, halfPairs: true };

/**
 * Reads one JSON-RPC message that all parsers read in the same way: a JSON object in UTF-8 without duplicate
 * properties. Refuses batches. In the objects whose properties the gate judges, also refuses two names that differ only
 * in case, because some servers treat them as the same name.
 */
export function readMessage(
  given: string | Uint8Array,
  limits: MessageLimits = HOST_LIMITS,
): ReadMessage {
  // In UTF-8, a string has at least as many bytes as it has UTF-16 code units.
  if (given.length > limits.bytes) return tooLarge(limits);
  const bytes = typeof given === "string" ? encodeUtf8(given) : given;
  if (bytes.length > limits.bytes) return tooLarge(limits);
  const text = typeof given === "string" ? given : decodeUtf8(given);
  if (text === undefined || !isWellFormed(text)) {
    return refused(PARSE_ERROR, "the message is not UTF-8");
  }
  if (outlineBytes(bytes).depth > limits.depth) return tooDeep(bytes, limits);
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return refused(PARSE_ERROR, "the message is not JSON");
  }
  if (Array.isArray(value)) {
    return refused(INVALID_REQUEST, "a batch is not taken; send its messages one by one");
  }
  if (!isJsonObject(value)) return refused(INVALID_REQUEST, "the message is not a JSON object");
  const flaw = flawIn(text, value, limits);
  return flaw === undefined ? classified(text, value) : refused(INVALID_REQUEST, flaw, value);
}

function tooLarge({ bytes }: MessageLimits): ReadMessage {
  return refused(INVALID_REQUEST, `the message has more than ${bytes} bytes`);
}

/** Number of bytes at either end of a message in which its id is looked for. */
const ENDS = 256;

/**
 * Refuses a message that is nested too deep to be parsed. Finds the id at the ends of the message, so that the party
 * that waits for an answer gets an error.
 */
function tooDeep(bytes: Uint8Array, { depth }: MessageLimits): ReadMessage {
  const refusal = refused(INVALID_REQUEST, `the message is nested more than ${depth} deep`);
  const ends = jsonRpcEnds(bytes.subarray(0, ENDS), bytes.subarray(-ENDS));
  if (ends === undefined || ends.kind === "notification") return refusal;
  return { ...refusal, id: ends.id, isAnswer: ends.kind === "answer" };
}

/** Returns why parsers could read a message differently; `undefined` if they cannot. */
function flawIn(text: string, value: JsonObject, { halfPairs }: MessageLimits): string | undefined {
  const twin = duplicateKey(text);
  if (twin !== undefined) return `an object has the property ${quotedName(twin.key)} twice`;
  for (const judged of judgedObjects(value)) {
    const misspelt = otherSpelling(judged);
    if (misspelt !== undefined)
      return `an object has the property ${quotedName(misspelt.name)} in two spellings`;
  }
  // The bytes are UTF-8, so only an escape can write a lone surrogate.
  if (halfPairs || !text.includes("\\u")) return undefined;
  for (const one of textsIn(value)) {
    if (!isWellFormed(one)) return "a string has a lone surrogate";
  }
  return undefined;
}

/** Returns the objects whose properties the gate judges. */
function judgedObjects(value: JsonObject): readonly JsonObject[] {
  const paths = [[], ["params"], ["params", "arguments"], ["params", "_meta"]];
  return paths.map((path) => objectAt(value, path)).filter((one) => one !== undefined);
}

const MEMBERS: readonly string[] = ["jsonrpc", "id", "method", "params", "result", "error"];

function classified(text: string, value: JsonObject): ReadMessage {
  const { jsonrpc, id, method, params, result, error } = value;
  const is = (name: string): boolean => Object.hasOwn(value, name);
  const isAnswer = is("result") || is("error");
  const no = (reason: string): ReadMessage => refused(INVALID_REQUEST, reason, value);
  // Parsers that ignore case take an answer with a property "Method" for a request.
  const other = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (other !== undefined) return no(`JSON-RPC has no property ${quotedName(other)}`);
  if (jsonrpc !== "2.0") return no('"jsonrpc" must be "2.0"');
  if (isAnswer) {
    if (is("method")) return no("the message is both a request and a response");
    if (is("result") && is("error")) return no("the response has both a result and an error");
    if (is("result") ? !isObject(result) : !isObject(error)) {
      return no("the result or the error of a response must be an object");
    }
    // An error about a message that could not be read has no id.
    if (is("error") && (id === undefined || id === null)) {
      return { ok: true, message: { text, value, kind: "response" } };
    }
    if (!isId(id)) return no(BAD_ID);
    return { ok: true, message: { text, value, kind: "response", id } };
  }
  if (typeof method !== "string") return no("the message has no method");
  if (is("params") && !isObject(params)) return no('"params" must be an object');
  if (!is("id")) return { ok: true, message: { text, value, kind: "notification", method } };
  if (!isId(id)) return no(BAD_ID);
  return { ok: true, message: { text, value, kind: "request", id, method } };
}

const BAD_ID = '"id" must be a string, or an integer that a double holds exactly';

function isId(id: Json | undefined): id is string | number {
  return typeof id === "string" || Number.isSafeInteger(id);
}

function refused(code: number, reason: string, value: JsonObject = {}): RefusedMessage {
  const { id, method } = value;
  const isAnswer =
    method === undefined && (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"));
  return { ok: false, id: isId(id) ? id : null, isAnswer, code, reason };
}

/**
 * `old`: revisions up to 2025-11-25, with `initialize` and sessions. `new`: revisions from 2026-07-28 on, whose
 * requests carry the protocol version.
 */
export type Era = "old" | "new";

const OLD_VERSIONS: readonly unknown[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** Returns whether a protocol version is one of the old era that the gate supports. */
export function isOldVersion(version: unknown): boolean {
  return OLD_VERSIONS.includes(version);
}

/** Returns the era of a request: `new` if its `_meta` contains a protocol version, else `old`. */
export function eraOf({ value }: Message): Era {
  return versionOf(value) === undefined ? "old" : "new";
}

/** Returns the protocol version in the `_meta` of a message of the new era; `undefined` if there is none. */
export function versionOf(value: JsonObject): string | undefined {
  return stringAt(value, ["params", "_meta", "io.modelcontextprotocol/protocolVersion"]);
}

/** Returns whether a message is a result or an error, given its text. */
export function isAnswer(text: string): boolean {
  const value: Json = JSON.parse(text);
  return isJsonObject(value) && !Object.hasOwn(value, "method");
}

/** Writes a JSON-RPC error. An error with the id `null` is about a message whose id could not be read. */
export function errorText(
  id: string | number | null,
  code: number,
  message: string,
  data?: object,
): string {
  // MCP's schema does not allow an id that is `null`.
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? undefined, error: { code, message, data } });
}

/** Writes a JSON-RPC result. */
export function resultText(id: string | number | null, result: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

// Line readers such as Node's readline also end a line at these characters. In JSON, they can occur only in strings.
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * Writes a message on one line for every line reader. Replaces line breaks between values by spaces, and line
 * separators in strings by escapes. Otherwise some readers could find a second message within a string.
 */
export function onOneLine(text: string): string {
  return text
    .replace(/[\r\n]/g, " ")
    .replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
