import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeBase64, encodeBase64url } from "../bytes/base64.js";
import { Cursor, varintLength, writeVarint } from "../bytes/cursor.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8, encodeUtf8, isWellFormed } from "../bytes/utf8.js";
import { assertTimes, withoutDurations } from "../caveats/durations.js";
import { parseTime } from "../caveats/time.js";
import { canonicalHop, plainHop } from "../caveats/write-hop.js";

/** Longest string that can be sealed, in bytes of UTF-8. */
export const MAX_SEALED_TEXT = 16_384;

const LABEL = "proviso-sealed-text-v1 ";
const PURPOSE = /^[\x21-\x7e]{1,64}$/;
const KEY_LENGTH = 32;
const NONCE_LENGTH = 24;
/**
 * Longest sealed string, in characters. It includes the longest string, the expiry, the nonce, the tag and a long key
 * id.
 */
const LONGEST = Math.ceil(((MAX_SEALED_TEXT + 1024) * 4) / 3);

/**
 * Encrypts and authenticates strings that a server hands out and gets back: a cursor, a session's cookie, the state
 * of a login. Uses XSalsa20-Poly1305 with a random nonce. Each purpose has its own key, derived from a root key's
 * secret by HKDF-SHA256 (RFC 5869).
 */
export class TextKey {
  readonly #secret: Uint8Array;

  /** @param secret - The root key's secret. */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** Returns the nonce followed by the sealed text. */
  seal(purpose: string, text: Uint8Array, nonce: Uint8Array): Uint8Array {
    const sealed = this.#cipher(purpose, nonce).encrypt(text);
    const box = new Uint8Array(NONCE_LENGTH + sealed.length);
    box.set(nonce);
    box.set(sealed, NONCE_LENGTH);
    return box;
  }

  /** Returns `undefined` if `box` was not sealed with this key for this purpose. */
  open(purpose: string, box: Uint8Array): Uint8Array | undefined {
    try {
      const cipher = this.#cipher(purpose, box.subarray(0, NONCE_LENGTH));
      return cipher.decrypt(box.subarray(NONCE_LENGTH));
    } catch {
      return undefined;
    }
  }

  #cipher(purpose: string, nonce: Uint8Array): ReturnType<typeof xsalsa20poly1305> {
    const info = encodeUtf8(LABEL + purpose);
    const key = hkdf(sha256, this.#secret, undefined, info, KEY_LENGTH);
    return xsalsa20poly1305(key, nonce);
  }
}

/** A key for sealing, with its id. */
export interface NamedTextKey {
  readonly kid: string;
  readonly texts: TextKey;
}

/** The expiry of a sealed string, written as in a hop. */
export type SealedTextExpiry = string | Date;

/** @see Issuer.seal */
export function sealText(
  purpose: string,
  text: string,
  { kid, texts }: NamedTextKey,
  given: { readonly expires?: SealedTextExpiry | undefined; readonly now: number },
  random: (length: number) => Uint8Array,
): string {
  assertPurpose(purpose);
  if (typeof text !== "string" || !isWellFormed(text)) {
    throw new TypeError("text must be a string without lone surrogates");
  }
  const until = given.expires === undefined ? "" : endOf(given.expires, given.now);
  const plain = encodeUtf8(`${until} ${text}`);
  if (plain.length - until.length - 1 > MAX_SEALED_TEXT) {
    throw new TypeError(`text must have at most ${MAX_SEALED_TEXT} bytes of UTF-8`);
  }
  const box = texts.seal(purpose, plain, random(NONCE_LENGTH));
  const name = encodeUtf8(kid);
  const start = varintLength(name.length) + name.length;
  const bytes = new Uint8Array(start + box.length);
  bytes.set(name, writeVarint(bytes, 0, name.length));
  bytes.set(box, start);
  const sealed = encodeBase64url(bytes);
  if (sealed.length > LONGEST)
    throw new TypeError("the key's id is too long to seal texts under it");
  return sealed;
}

/** Returns the expiry of a string in canonical form. */
function endOf(expires: SealedTextExpiry, now: number): string {
  const hop = plainHop({ expires }, "seal");
  assertTimes(hop);
  return canonicalHop(withoutDurations(hop, now)).hop.expires ?? "";
}

/** @see Issuer.open */
export function openText(
  purpose: string,
  sealed: unknown,
  keyOf: (kid: string) => TextKey | undefined,
  now: number,
): string | undefined {
  assertPurpose(purpose);
  if (typeof sealed !== "string" || sealed.length > LONGEST) return undefined;
  const named = readBox(sealed);
  if (named === undefined) return undefined;
  const plain = keyOf(named.kid)?.open(purpose, named.box);
  if (plain === undefined) return undefined;
  const text = decodeUtf8(plain);
  if (text === undefined) return undefined;
  const at = text.indexOf(" ");
  const until = text.slice(0, at);
  if (until !== "" && now >= (parseTime(until) ?? Number.NEGATIVE_INFINITY)) return undefined;
  return text.slice(at + 1);
}

/** Splits a sealed string into the id of its key and the box. */
function readBox(sealed: string): { readonly kid: string; readonly box: Uint8Array } | undefined {
  try {
    const cursor = new Cursor(decodeBase64(sealed));
    const kid = decodeUtf8(cursor.take(cursor.varint("key id"), "key id"));
    if (kid === undefined) return undefined;
    return { kid, box: cursor.bytes.subarray(cursor.offset) };
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

function assertPurpose(purpose: unknown): asserts purpose is string {
  if (typeof purpose === "string" && PURPOSE.test(purpose)) return;
  throw new TypeError("purpose must be 1 to 64 printable ASCII characters without spaces");
}
