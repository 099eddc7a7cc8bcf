import { readBase64 } from "../bytes/base64.js";
import { Cursor } from "../bytes/cursor.js";
import { isObject } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { CAPABILITY_LIMITS } from "../capability/limits.js";
import { binaryV2Length, readBinaryV2, V2_VERSION } from "../macaroon/binary-v2.js";
import { macaroonToText } from "../macaroon/write.js";

/** Maximum number of candidate strings that one search verifies. */
export const MAX_CANDIDATES = 64;
/** Maximum number of characters that one search verifies in total. Verifying a token hashes it once for each link. */
const MAX_JUDGED = CAPABILITY_LIMITS.bytes * 8;
/** Maximum number of possible beginnings of a macaroon that one search parses. */
const MAX_BEGINNINGS = 1024;
/** Bytes of the shortest possible identifier. */
const MIN_IDENTIFIER_BYTES = 99;
/** Bytes of the shortest token: an identifier and a signature. */
const MIN_BYTES = MIN_IDENTIFIER_BYTES + 39;
/** Characters of the shortest token. */
export const MIN_TOKEN_LENGTH: number = Math.ceil((MIN_BYTES * 4) / 3);

const V2_END = 0;
const V2_LOCATION = 1;
const V2_IDENTIFIER = 2;
const BRACE = 0x7b;

/** The result of a search: `too_many` if the search exceeds its bounds. */
export type SearchResult = "none" | "token" | "too_many";

// One expression for each alphabet of base64. The first expression also finds runs without "-", "_", "+" and
// "/". A run of at least n characters is written [...]{n}[...]*, not [...]{n,}: for {n,} the engine stores a
// position for each character, so a run of some megabytes would overflow its stack.
const RUNS: readonly RegExp[] = ["A-Za-z0-9_-", "A-Za-z0-9+/"].map(
  (alphabet) =>
    new RegExp(`(?<![${alphabet}])[${alphabet}]{${MIN_TOKEN_LENGTH}}[${alphabet}]*`, "g"),
);
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([^u]))/g;
/** Maximum number of levels of JSON escapes that a search resolves; each level is one pass over the string. */
const MAX_ESCAPE_LEVELS = 3;

/**
 * Searches data that must not contain tokens. Searches every string and property name, in each alphabet of
 * base64, and behind up to three levels of JSON escapes (JSON in a JSON string in a JSON string). A token may stand
 * within other text. The work is proportional to the length of the data, and at most {@link MAX_CANDIDATES}
 * strings are verified.
 *
 * The search finds tokens that were put in the wrong place by mistake. It does not find tokens that their
 * holder hides, for example in hexadecimal or by encryption.
 */
export class TokenSearch {
  readonly #isAuthentic: (token: string) => boolean;
  #candidates = 0;
  #judged = 0;
  #beginnings = 0;

  /** @param isAuthentic - Returns whether a string is a valid token. */
  constructor(isAuthentic: (token: string) => boolean) {
    this.#isAuthentic = isAuthentic;
  }

  /** Searches a value of JSON types. Several calls share the limits of one search. */
  look(value: unknown): SearchResult {
    const left: unknown[] = [value];
    while (left.length > 0) {
      const next = left.pop();
      if (typeof next === "string") {
        const found = this.#inString(next);
        if (found !== "none") return found;
      } else if (Array.isArray(next)) {
        for (const item of next) left.push(item);
      } else if (isObject(next)) {
        for (const name of Object.keys(next)) left.push(name, next[name]);
      }
    }
    return "none";
  }

  #inString(text: string): SearchResult {
    let level = text;
    for (let resolved = 0; level.length >= MIN_TOKEN_LENGTH; resolved++) {
      const found = this.#inBase64(level);
      if (found !== "none") return found;
      if (resolved === MAX_ESCAPE_LEVELS || !level.includes("\\")) break;
      level = unescaped(level);
    }
    return "none";
  }

  #inBase64(text: string): SearchResult {
    for (const [at, runs] of RUNS.entries()) {
      for (const [run] of text.matchAll(runs)) {
        if (at > 0 && !/[+/]/.test(run)) continue;
        for (const token of tokensIn(run)) {
          this.#beginnings++;
          if (this.#beginnings > MAX_BEGINNINGS) return "too_many";
          const found = token === undefined ? "none" : this.#judge(token);
          if (found !== "none") return found;
        }
      }
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
 * Yields each macaroon in a run of base64, as base64url; `undefined` for a beginning that does not parse.
 * Locations are left out: they are not signed, so the token is valid without them.
 */
function* tokensIn(run: string): Generator<string | undefined> {
  // A macaroon may begin at any character, so decode all four alignments of base64's groups.
  for (let shift = 0; shift < 4; shift++) {
    const { bytes } = readBase64(run.slice(shift));
    for (let at = 0; at + MIN_BYTES <= bytes.length; at += 3) {
      if (beginsV2(bytes, at)) yield tokenAt(bytes, at);
    }
  }
}

/** Returns the binary macaroon that begins at `at`, without its locations; `undefined` if there is none. */
function tokenAt(bytes: Uint8Array, at: number): string | undefined {
  try {
    const macaroon = readBinaryV2(new Cursor(bytes, at), CAPABILITY_LIMITS, "left out");
    const isTooLarge = binaryV2Length(macaroon) > CAPABILITY_LIMITS.bytes;
    return isTooLarge ? undefined : macaroonToText(macaroon);
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

/**
 * Returns whether a v2 macaroon seems to begin at `at`: a version, an optional location, and an identifier that begins
 * with a brace, as the JSON of a capability's identifier does.
 */
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

/** Reads a LEB128 number of at most four bytes, as {@link Cursor.varint} does. */
function varintAt(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = at;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[end++] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return { value, end };
}

/** Resolves JSON escapes in a string, which need not be JSON. */
function unescaped(text: string): string {
  return text.replace(ESCAPE, (_, code: string | undefined, character: string | undefined) =>
    code === undefined ? (character ?? "") : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
