import { encodeBase64url } from "../../bytes/base64.js";

/** Base64url characters of an id that fits: all of a link's, and of a capability's of 96 bits. */
const LENGTHS = { rv_: 22, cap_: 16 } as const;

/** What an id starts with. */
export type IdPrefix = keyof typeof LENGTHS;

const INVALID = 64;
const SEXTETS: Uint8Array = /* @__PURE__ */ sextets();

function sextets(): Uint8Array {
  const table = new Uint8Array(128).fill(INVALID);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (let at = 0; at < 64; at++) table[alphabet.charCodeAt(at)] = at;
  return table;
}

/**
 * Writes an id as four words, the last of them 0 for a capability's.
 *
 * @param words - Four words from `to` on are overwritten.
 * @returns Whether the id fits: it does not where its text says more or less than its words.
 */
export function writeIdWords(text: string, prefix: IdPrefix, words: Uint32Array, to = 0): boolean {
  const length = LENGTHS[prefix];
  const start = prefix.length;
  if (text.length !== start + length || !text.startsWith(prefix)) return false;
  let bad = 0;
  let bits = 0;
  let held = 0;
  let word = to;
  words[to + 3] = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const sextet = code < 128 ? (SEXTETS[code] ?? INVALID) : INVALID;
    bad |= sextet;
    if (bits + 6 < 32) {
      held = (held << 6) | sextet;
      bits += 6;
      continue;
    }
    const over = bits + 6 - 32;
    words[word++] = (held << (6 - over)) | (sextet >>> over);
    held = sextet & ((1 << over) - 1);
    bits = over;
  }
  // What is left over of a link's last character belongs to no word, so it must be 0.
  return (bad & INVALID) === 0 && held === 0;
}

/** The id that {@link writeIdWords} wrote. */
export function idOfWords(words: Uint32Array, prefix: IdPrefix): string {
  const bytes = new Uint8Array(prefix === "rv_" ? 16 : 12);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = (words[at >> 2] ?? 0) >>> (24 - 8 * (at & 3));
  }
  return prefix + encodeBase64url(bytes);
}
