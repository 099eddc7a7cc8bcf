import { ecb } from "@noble/ciphers/aes.js";
import { expand, extract } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeBase64, encodeBase64url } from "../bytes/base64.js";
import { isObject } from "../bytes/json.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import { assertString, notA } from "../checks/kinds.js";

const LABEL = "proviso-handle-v1 ";
const PREFIX = "rh_";
/** 22 base64url characters have 4 bits more than a block, so the low 4 bits of the last character must be zero. */
const FORM = /^rh_[A-Za-z0-9_-]{21}[AQgw]$/;
const KEY_LENGTH = 32;
const BLOCK = 16;
/** Number of bits in the third word of a block that a number up to 2^53 - 1 can use. */
const NUMBER_BITS = 21;

/**
 * Returns whether a string has the form of a handle: `rh_` and 22 base64url characters, which encode 16 bytes. Finding
 * out whether an issuer has made the handle needs the issuer's key.
 */
export function isHandle(text: string): boolean {
  return FORM.test(text);
}

/** The owner of handles: a capability, or a principal for calls without a capability. */
export type HandleScope =
  | Pick<VerifiedCapability, "id" | "keyId">
  | {
      /** The principal. The handles cannot be opened for anyone else. */
      readonly ambient: string;
    };

/** @throws TypeError if `scope` is not a scope, for example a Promise of a capability. */
export function assertScope(scope: HandleScope): void {
  if (!isObject(scope)) throw notA("scope", "a capability, or { ambient }", scope);
  if ("ambient" in scope) {
    assertString(scope.ambient, "scope.ambient");
  } else {
    assertString(scope.id, "scope.id");
    assertString(scope.keyId, "scope.keyId");
  }
}

/** Returns the name of the scope for handles outside any capability. No capability id begins with `ambient:`. */
export function ambientScope({ ambient }: { readonly ambient: string }): string {
  return `ambient:${ambient}`;
}

/**
 * Seals resource numbers as handles, and opens handles. A handle is one block of AES-256 encrypted with the key
 * of its scope: 75 zero bits and the number, big-endian. Each number has one handle in a scope. A handle of
 * another scope does not open, and a forged block opens with a probability of 2^-75. The key of a scope is
 * derived from a root key's secret by HKDF-SHA256 (RFC 5869).
 */
export class HandleKey {
  readonly #key: Uint8Array;

  /** @param secret - The root key's secret. */
  constructor(secret: Uint8Array) {
    this.#key = extract(sha256, secret);
  }

  /**
   * Returns the handle of each number.
   *
   * @param scope - A capability's id, or an ambient scope.
   * @throws TypeError if a number is not an integer from 0 to 2^53 - 1.
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

  /** Returns the number in each handle that was sealed with this key for this scope; leaves out all other handles. */
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
      // Compare all zero bits at once, so that the time does not reveal which bits are wrong.
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
