import { TokenError } from "./token-error.js";
import { asciiText } from "./utf8.js";

const URL_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const INVALID = 0xff;

// Both alphabets map into one table: "+" and "-" are 62, "/" and "_" are 63.
const VALUES: Uint8Array = /* @__PURE__ */ (() => {
  const table = new Uint8Array(128).fill(INVALID);
  for (let value = 0; value < 64; value++) table[URL_ALPHABET.charCodeAt(value)] = value;
  table["+".charCodeAt(0)] = 62;
  table["/".charCodeAt(0)] = 63;
  return table;
})();

// Of base64url alone; what is no character of it has a bit more.
const NO_VALUE = 64;
const URL_VALUES: Uint8Array = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, code) => {
  const value = URL_ALPHABET.indexOf(String.fromCharCode(code));
  return value < 0 ? NO_VALUE : value;
});

const URL_CODES: Uint8Array = /* @__PURE__ */ Uint8Array.from(URL_ALPHABET, (letter) =>
  letter.charCodeAt(0),
);

/** The character code of the lowest six bits. */
export function base64urlCode(bits: number): number {
  return URL_CODES[bits & 63] as number;
}

const ENCODER = /* @__PURE__ */ new TextEncoder();
// The characters of a text, as bytes. Everything here is synchronous, so one serves all texts of a token's length.
const CHARACTERS: Uint8Array = /* @__PURE__ */ new Uint8Array(16 * 1024);

function roomFor(length: number): Uint8Array {
  return length > CHARACTERS.length ? new Uint8Array(length) : CHARACTERS;
}

/** Unpadded base64url (RFC 4648, section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 4) / 3);
  const text = roomFor(length + 2);
  let to = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    // What is past the end is 0, and its characters are left out.
    const [second, third] = [bytes[i + 1] ?? 0, bytes[i + 2] ?? 0];
    const group = ((bytes[i] as number) << 16) | (second << 8) | third;
    text[to] = base64urlCode(group >> 18);
    text[to + 1] = base64urlCode(group >> 12);
    text[to + 2] = base64urlCode(group >> 6);
    text[to + 3] = base64urlCode(group);
    to += 4;
  }
  return asciiText(text.subarray(0, length));
}

/**
 * Decodes base64url without padding, and nothing else, to the start of `bytes`.
 *
 * @returns How many bytes; -1 if the text is anything else, {@link readBase64} says what, or they do not fit.
 */
export function decodeBase64urlInto(text: string, bytes: Uint8Array): number {
  const { length } = text;
  const rest = length & 3;
  const size = (length * 3) >> 2;
  if (rest === 1 || size > bytes.length) return -1;
  const codes = roomFor(length);
  // Another character takes more bytes than one, and none of them has a value.
  if (ENCODER.encodeInto(text, codes).written !== length) return -1;
  const whole = length - rest;
  let all = 0;
  let at = 0;
  for (let i = 0; i < whole; i += 4) {
    const a = URL_VALUES[codes[i] as number] as number;
    const b = URL_VALUES[codes[i + 1] as number] as number;
    const c = URL_VALUES[codes[i + 2] as number] as number;
    const d = URL_VALUES[codes[i + 3] as number] as number;
    all |= a | b | c | d;
    bytes[at] = (a << 2) | (b >> 4);
    bytes[at + 1] = (b << 4) | (c >> 2);
    bytes[at + 2] = (c << 6) | d;
    at += 3;
  }
  if (rest > 0) {
    const a = URL_VALUES[codes[whole] as number] as number;
    const b = URL_VALUES[codes[whole + 1] as number] as number;
    const c = rest === 3 ? (URL_VALUES[codes[whole + 2] as number] as number) : 0;
    all |= a | b | c;
    if ((rest === 3 ? c & 3 : b & 15) !== 0) return -1;
    bytes[at] = (a << 2) | (b >> 4);
    if (rest === 3) bytes[at + 1] = (b << 4) | (c >> 2);
  }
  return all < NO_VALUE ? size : -1;
}

/** What {@link readBase64} found: the whole bytes, and the fault at the end of the text, if any. */
export interface Base64Reading {
  readonly bytes: Uint8Array;
  /**
   * A fault that a text cut short would also show (a lone last character, or set bits after the last
   * whole byte). The caller decides: if the bytes themselves stop early, the text was truncated.
   */
  readonly tail?: TokenError;
}

/**
 * Strict base64 in either alphabet, padded or not, but never both alphabets at once.
 *
 * @throws TokenError `base64_character`, `base64_mixed`, `base64_whitespace` or `base64_padding`,
 *   with the offset of the character.
 */
export function readBase64(text: string): Base64Reading {
  const end = endOfData(text);
  const bytes = new Uint8Array((end * 6) >> 3);
  let standard = -1;
  let urlSafe = -1;
  let buffer = 0;
  let bits = 0;
  if (end === text.length && decodeBase64urlInto(text, bytes) >= 0) return { bytes };
  let at = 0;
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i);
    const value = code < 128 ? (VALUES[code] ?? INVALID) : INVALID;
    if (value === INVALID) throw badCharacter(text, i);
    if (value >= 62) {
      if (code === 0x2b || code === 0x2f) standard = i;
      else urlSafe = i;
      if (standard >= 0 && urlSafe >= 0) {
        throw new TokenError("base64_mixed", `both base64 alphabets are used (at ${i})`, i);
      }
    }
    buffer = ((buffer << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (buffer >> bits) & 0xff;
    }
  }
  if (bits === 6) {
    return { bytes, tail: new TokenError("truncated", "the base64 text stops inside a byte", end) };
  }
  if ((buffer & ((1 << bits) - 1)) !== 0) {
    const message = "the last base64 character has bits set past the last byte";
    return { bytes, tail: new TokenError("base64_trailing_bits", message, end - 1) };
  }
  return { bytes };
}

/**
 * {@link readBase64}, refusing a fault at the end too.
 *
 * @throws TokenError as {@link readBase64}, and `truncated` or `base64_trailing_bits`.
 */
export function decodeBase64(text: string): Uint8Array {
  const { bytes, tail } = readBase64(text);
  if (tail !== undefined) throw tail;
  return bytes;
}

function endOfData(text: string): number {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x3d) end--;
  const padding = text.length - end;
  const needed = (4 - (end % 4)) % 4;
  if (padding !== 0 && (padding !== needed || padding > 2)) {
    throw new TokenError("base64_padding", `wrong number of "=" at the end: ${padding}`, end);
  }
  return end;
}

function badCharacter(text: string, at: number): TokenError {
  const character = text.charAt(at);
  if (/[\t-\r ]/.test(character)) {
    return new TokenError("base64_whitespace", `white space inside the token (at ${at})`, at);
  }
  if (character === "=")
    return new TokenError("base64_padding", `"=" before the end (at ${at})`, at);
  const shown = JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
  return new TokenError("base64_character", `${shown} is not a base64 character (at ${at})`, at);
}
