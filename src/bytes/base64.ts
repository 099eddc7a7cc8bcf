import { TokenError } from "./token-error.js";

const URL_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const DECODER = /* @__PURE__ */ new TextDecoder();
const INVALID = 0xff;

// Both alphabets map into one table: "+" and "-" are 62, "/" and "_" are 63.
const VALUES: Uint8Array = /* @__PURE__ */ (() => {
  const table = new Uint8Array(128).fill(INVALID);
  for (let value = 0; value < 64; value++) table[URL_ALPHABET.charCodeAt(value)] = value;
  table["+".charCodeAt(0)] = 62;
  table["/".charCodeAt(0)] = 63;
  return table;
})();

/** Encodes bytes as unpadded base64url (RFC 4648, section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  const text = new Uint8Array(4 * Math.ceil(bytes.length / 3));
  let to = 0;
  for (let at = 0; at < bytes.length; at += 3) {
    // Past the end, zeros are read; `subarray` omits their characters.
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    for (let shift = 18; shift >= 0; shift -= 6) {
      text[to++] = URL_ALPHABET.charCodeAt((group >> shift) & 63);
    }
  }
  return DECODER.decode(text.subarray(0, Math.ceil((bytes.length * 4) / 3)));
}

/** The decoded bytes, and the fault at the end of the string, if there is one. */
export interface Base64Reading {
  readonly bytes: Uint8Array;
  /**
   * A fault that a truncated string can also have: a lone last character, or bits set after the last whole byte. The
   * calling code decides what the fault means: if the bytes also end too early, the string was truncated.
   */
  readonly tail?: TokenError;
}

/**
 * Decodes strict base64: either alphabet but not both, padded or not.
 *
 * @throws TokenError `base64_character`, `base64_mixed`, `base64_whitespace` or `base64_padding`, with the
 *   offset of the character.
 */
export function readBase64(text: string): Base64Reading {
  const end = endOfData(text);
  const bytes = new Uint8Array((end * 6) >> 3);
  let standard = -1;
  let urlSafe = -1;
  let buffer = 0;
  let bits = 0;
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
 * Decodes as {@link readBase64} does, but also refuses a fault at the end of the string.
 *
 * @throws TokenError as {@link readBase64} does, and `truncated` or `base64_trailing_bits`.
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
    // An invalid character may also make the length wrong; report the character.
    for (let i = 0; i < end; i++) {
      if ((VALUES[text.charCodeAt(i)] ?? INVALID) === INVALID) throw badCharacter(text, i);
    }
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
