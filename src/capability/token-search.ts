import { encodeBase64url, readBase64 } from "../bytes/base64.js";
import { Cursor } from "../bytes/cursor.js";
import { isJsonObject, type Json } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { readBinaryV1, startsBinaryV1 } from "../macaroon/binary-v1.js";
import { readBinaryV2, V2_VERSION } from "../macaroon/binary-v2.js";
import { CAPABILITY_LIMITS } from "./limits.js";

/** Texts that may be tokens, of which one search looks at no more. */
export const MAX_CANDIDATES = 64;
/** Characters of the texts that one search judges, together: each is hashed as often as it has links. */
const MAX_JUDGED = CAPABILITY_LIMITS.bytes * 8;
/** Places where a macaroon in binary seems to begin, of which one search reads no more. */
const MAX_BEGINNINGS = 1024;
/** Bytes of the shortest identifier that a capability can have. */
const MIN_IDENTIFIER_BYTES = 99;
/** Bytes of the shortest token in binary: v2, with nothing but identifier and signature. */
const MIN_BINARY_BYTES = MIN_IDENTIFIER_BYTES + 39;
/** Characters of the shortest text that can be a capability's token: that, in base64. */
export const MIN_TOKEN_LENGTH: number = Math.ceil((MIN_BINARY_BYTES * 4) / 3);
/** Characters of the longest: no form has more than four for a byte. */
const MAX_TOKEN_LENGTH = CAPABILITY_LIMITS.bytes * 4;

const MAX_BINARY_BYTES = CAPABILITY_LIMITS.bytes * 2;

const V2_END = 0;
const V2_LOCATION = 1;
const V2_IDENTIFIER = 2;
const BRACE = 0x7b;
/** Where "location " stands in the first packet of v1, and its first letter. */
const V1_NAME = 4;
const V1_INITIAL = 0x6c;

/** What a search has found: `too_many` if it would have to look at more than it may. */
export type SearchResult = "none" | "token" | "too_many";

// Both alphabets of base64. What has neither "+" nor "/" is found in the first. A run that is too short
// is not tried again from each of its characters.
const RUNS: readonly RegExp[] = ["A-Za-z0-9_-", "A-Za-z0-9+/"].map(
  (alphabet) => new RegExp(`(?<![${alphabet}])[${alphabet}]{${MIN_TOKEN_LENGTH},}`, "g"),
);
const OBJECT = /\{[ \t\n\r]*"/g;
const SIGNATURES: readonly string[] = ["s", "s64", "signature"];
const SIGNED = /"(?:s|s64|signature)"|\\u/;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([^u]))/g;
const MACAROON_DEPTH = 3;
/** How often JSON may stand in strings of JSON. */
const MAX_LEVELS = 4;
/** How often each character of a text may be looked at as part of an object. */
const LOOKS = 8 * MAX_LEVELS;

/**
 * Looks for tokens in what is not to hold any: in every string, member name and object, in every form
 * that a token has, whatever stands before and behind it, and whatever members its JSON has besides.
 * The work grows with the length of what is looked through, and no more than {@link MAX_CANDIDATES}
 * texts are judged.
 */
export class TokenSearch {
  readonly #isAuthentic: (token: string) => boolean;
  #candidates = 0;
  #judged = 0;
  #beginnings = 0;
  // Objects within each other are looked at several times, and no text may make that many times.
  #looks = MAX_TOKEN_LENGTH;

  /** @param isAuthentic - Whether a text is a token. */
  constructor(isAuthentic: (token: string) => boolean) {
    this.#isAuthentic = isAuthentic;
  }

  /** Looks through a value as `JSON.parse` returns it. What was judged before counts on. */
  look(value: Json): SearchResult {
    if (typeof value === "string") return this.#inText(value);
    const left: Json[] = [value];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      let found: SearchResult = "none";
      if (typeof next === "string") found = this.#inText(next);
      else if (Array.isArray(next)) for (const item of next) left.push(item);
      else if (isJsonObject(next)) {
        let isSigned = false;
        for (const name of Object.keys(next)) {
          left.push(name, next[name] ?? null);
          isSigned ||= SIGNATURES.includes(name);
        }
        if (isSigned) found = this.#judge(macaroonIn(next));
      }
      if (found !== "none") return found;
    }
    return "none";
  }

  #inText(text: string): SearchResult {
    this.#looks += LOOKS * text.length;
    let level = text;
    for (let deep = 0; deep < MAX_LEVELS && level.length >= MIN_TOKEN_LENGTH; deep++) {
      const inBase64 = this.#inBase64(level);
      if (inBase64 !== "none") return inBase64;
      const inJson = this.#inJson(level);
      if (inJson !== "none") return inJson;
      if (!level.includes("\\")) break;
      level = unescaped(level);
    }
    return "none";
  }

  #inBase64(text: string): SearchResult {
    for (const [at, runs] of RUNS.entries()) {
      for (const [run] of text.matchAll(runs)) {
        if (at > 0 && !/[+/]/.test(run)) continue;
        for (const token of binaryIn(run)) {
          this.#beginnings++;
          if (this.#beginnings > MAX_BEGINNINGS) return "too_many";
          const found = token === undefined ? "none" : this.#judge(token);
          if (found !== "none") return found;
        }
      }
    }
    return "none";
  }

  #inJson(text: string): SearchResult {
    for (const { index } of text.matchAll(OBJECT)) {
      const { length, closed } = objectAt(text, index);
      this.#looks -= length;
      if (this.#looks < 0) return "too_many";
      if (!closed || length < MIN_TOKEN_LENGTH) continue;
      const object = text.slice(index, index + length);
      if (!SIGNED.test(object)) continue;
      const found = this.#judge(macaroonIn(parsed(object)));
      if (found !== "none") return found;
    }
    return "none";
  }

  #judge(token: string): SearchResult {
    if (token.length < MIN_TOKEN_LENGTH) return "none";
    this.#candidates++;
    this.#judged += token.length;
    if (this.#candidates > MAX_CANDIDATES || this.#judged > MAX_JUDGED) return "too_many";
    return this.#isAuthentic(token) ? "token" : "none";
  }
}

/**
 * The macaroon that an object is, by the members that make one alone: others beside them, or a second
 * encoding, do not hide it. Empty if it cannot be one.
 */
function macaroonIn(object: Json): string {
  if (!isJsonObject(object)) return "";
  const { identifier, signature, i, i64, s64, s } = object;
  if (typeof identifier === "string" && isHexSignature(signature)) {
    const caveats = caveatsIn(object["caveats"], ["cid", "vid", "cl"]);
    return JSON.stringify({ identifier, caveats, signature });
  }
  if (typeof i !== "string" && typeof i64 !== "string") return "";
  const signed = isBase64Signature(s64) ? { s64 } : isTextSignature(s) ? { s } : undefined;
  if (signed === undefined) return "";
  const c = caveatsIn(object["c"], ["i", "i64", "l", "v", "v64"]);
  return JSON.stringify({ v: 2, ...(typeof i === "string" ? { i } : { i64 }), c, ...signed });
}

function caveatsIn(value: Json | undefined, names: readonly string[]): Json {
  const caveats: readonly Json[] = Array.isArray(value) ? value : [];
  return caveats.map((caveat) =>
    isJsonObject(caveat)
      ? Object.fromEntries(Object.entries(caveat).filter(([name]) => names.includes(name)))
      : caveat,
  );
}

function isHexSignature(value: Json | undefined): boolean {
  return typeof value === "string" && /^[0-9a-fA-F]{64}$/.test(value);
}

function isBase64Signature(value: Json | undefined): boolean {
  return typeof value === "string" && /^[\w+/-]{43}=?$/.test(value);
}

function isTextSignature(value: Json | undefined): boolean {
  return typeof value === "string" && value.length <= 32 && encodeUtf8(value).length === 32;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The macaroons that a run of base64 holds in binary, each by itself and as base64url; `undefined`
 * for what only begins like one.
 */
function* binaryIn(run: string): Generator<string | undefined> {
  // A macaroon may begin at any character; with four texts each begins a group of one of them.
  for (let shift = 0; shift < 4; shift++) {
    const { bytes } = readBase64(run.slice(shift));
    for (let at = 0; at + MIN_BINARY_BYTES <= bytes.length; at += 3) {
      if (!beginsV2(bytes, at) && !beginsV1(bytes, at)) continue;
      const end = macaroonEnd(bytes, at);
      yield end === undefined ? undefined : encodeBase64url(bytes.subarray(at, end));
    }
  }
}

/** Where the binary macaroon ends that begins at an offset; `undefined` if it is not one. */
function macaroonEnd(bytes: Uint8Array, at: number): number | undefined {
  const cursor = new Cursor(bytes.subarray(0, at + MAX_BINARY_BYTES), at);
  try {
    if (bytes[at] === V2_VERSION) readBinaryV2(cursor, CAPABILITY_LIMITS);
    else readBinaryV1(cursor, CAPABILITY_LIMITS);
    return cursor.offset;
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

function beginsV1(bytes: Uint8Array, at: number): boolean {
  return bytes[at + V1_NAME] === V1_INITIAL && startsBinaryV1(new Cursor(bytes, at));
}

/** Whether at an offset there are a version, a location or none, and an identifier in braces. */
function beginsV2(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== V2_VERSION) return false;
  let offset = at + 1;
  if (bytes[offset] === V2_LOCATION) {
    const { value, end } = varintAt(bytes, offset + 1);
    offset = end + value;
  }
  if (bytes[offset] !== V2_IDENTIFIER) return false;
  const { value, end } = varintAt(bytes, offset + 1);
  return value >= MIN_IDENTIFIER_BYTES && bytes[end] === BRACE && bytes[end + value] === V2_END;
}

/** A LEB128 number, of which no more than three bytes are read. */
function varintAt(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = at;
  for (let shift = 0; shift < 21; shift += 7) {
    const byte = bytes[end++] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return { value, end };
}

/** How far the JSON object goes that begins at an offset, and whether it ends there. */
function objectAt(
  text: string,
  start: number,
): { readonly length: number; readonly closed: boolean } {
  const most = Math.min(text.length, start + MAX_TOKEN_LENGTH);
  let depth = 0;
  let inString = false;
  for (let at = start; at < most; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) inString = false;
      // No string of JSON goes over the end of a line.
      else if (code < 0x20) return { length: at - start, closed: false };
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth++;
      if (depth > MACAROON_DEPTH) return { length: at - start, closed: false };
    } else if (code === 0x7d || code === 0x5d) {
      depth--;
      if (depth === 0) return { length: at + 1 - start, closed: true };
    }
  }
  return { length: most - start, closed: false };
}

/** A text that may be, or hold, a string of JSON, as that string reads. */
function unescaped(text: string): string {
  return text.replace(ESCAPE, (_, code: string | undefined, character: string | undefined) =>
    code === undefined ? (character ?? "") : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
