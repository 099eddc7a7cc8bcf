import { ecb } from "@noble/ciphers/aes.js";
import { expand, extract } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeBase64, encodeBase64url } from "../bytes/base64.js";
import { encodeUtf8 } from "../bytes/utf8.js";

const LABEL = "proviso-handle-v1 ";
const PREFIX = "rh_";
/** 22 characters of base64url hold 4 bits more than a block: in the last one they are zero. */
const FORM = /^rh_[A-Za-z0-9_-]{21}[AQgw]$/;
const KEY_LENGTH = 32;
const BLOCK = 16;
/** The bits of a block's third word that a number up to 2^53 - 1 uses. */
const NUMBER_BITS = 21;

/**
 * Whether a text is written like a handle: `rh_` and 16 bytes of base64url, 25 characters. Whether it
 * is one, only the issuer's key can show.
 */
export function isHandle(text: string): boolean {
  return FORM.test(text);
}

/**
 * Seals numbers of resources into handles and back. A handle is one block of AES-256 under a key of its
 * scope: 75 zero bits and the number, big-endian. The same number in the same scope is the same handle,
 * in another scope it is noise, and a block that was made up opens with a probability of 2^-75. The key
 * of a scope is derived from a root key's secret by HKDF-SHA256 (RFC 5869).
 */
export class HandleKey {
  readonly #key: Uint8Array;

  /** @param secret - The root key's secret. */
  constructor(secret: Uint8Array) {
    this.#key = extract(sha256, secret);
  }

  /**
   * The handle of each number.
   *
   * @param scope - What the handles are for: a capability's id.
   * @throws TypeError unless every number is a whole one from 0 to 2^53 - 1.
   */
  seal(scope: string, numbers: readonly number[]): Map<number, string> {
    const distinct = [...new Set(numbers)];
    const blocks = new DataView(new ArrayBuffer(distinct.length * BLOCK));
    for (const [at, number] of distinct.entries()) {
      if (!Number.isSafeInteger(number) || number < 0) {
        throw new TypeError(`a resource's number must be 0 to 2^53 - 1, not ${number}`);
      }
      blocks.setBigUint64(at * BLOCK + BLOCK / 2, BigInt(number));
    }
    const sealed = this.#cipher(scope).encrypt(new Uint8Array(blocks.buffer));
    const handleAt = (at: number): string =>
      PREFIX + encodeBase64url(sealed.subarray(at * BLOCK, (at + 1) * BLOCK));
    return new Map(distinct.map((number, at) => [number, handleAt(at)]));
  }

  /** The number in each handle that was sealed with this key for this scope; others are left out. */
  open(scope: string, handles: readonly string[]): Map<string, number> {
    const written = [...new Set(handles)].filter(isHandle);
    const sealed = new Uint8Array(written.length * BLOCK);
    for (const [at, handle] of written.entries()) {
      sealed.set(decodeBase64(handle.slice(PREFIX.length)), at * BLOCK);
    }
    const { buffer, byteOffset } = this.#cipher(scope).decrypt(sealed);
    const blocks = new DataView(buffer, byteOffset);
    const opened = new Map<string, number>();
    for (const [at, handle] of written.entries()) {
      const word = (index: number): number => blocks.getUint32(at * BLOCK + index * 4);
      const high = word(2);
      // One comparison for all zero bits: its time does not reveal which of them are wrong.
      const wrong = word(0) | word(1) | (high >>> NUMBER_BITS);
      if (wrong === 0) opened.set(handle, high * 2 ** 32 + word(3));
    }
    return opened;
  }

  #cipher(scope: string): ReturnType<typeof ecb> {
    const key = expand(sha256, this.#key, encodeUtf8(LABEL + scope), KEY_LENGTH);
    return ecb(key, { disablePadding: true });
  }
}
