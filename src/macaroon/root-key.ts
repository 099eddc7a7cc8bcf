import { encodeUtf8 } from "../bytes/utf8.js";
import { HmacKey, hmac } from "./hmac.js";

const GENERATOR: Uint8Array = /* @__PURE__ */ encodeUtf8("macaroons-key-generator");

/** The key a macaroon's chain starts from, derived from a secret of any length. */
export function deriveKey(secret: Uint8Array): Uint8Array {
  return hmac(GENERATOR, secret);
}

/**
 * A root key, ready for use: the derived key's HMAC state is computed once and kept, so making and
 * checking macaroons under the same key skips that work. Holds secret state in private fields only;
 * printing it shows nothing.
 */
export class RootKey {
  readonly #key: HmacKey;

  /**
   * @param secret - The shared secret; at least 32 random bytes are advised, one byte is required.
   * @throws TypeError if `secret` is not bytes or is empty.
   */
  constructor(secret: Uint8Array) {
    if (!(secret instanceof Uint8Array)) throw new TypeError("a root key must be a Uint8Array");
    if (secret.length === 0) throw new TypeError("a root key must not be empty");
    this.#key = new HmacKey(deriveKey(new Uint8Array(secret)));
  }

  /** The tag of the chain's first link: HMAC under the derived key. */
  tag(identifier: Uint8Array): Uint8Array {
    return this.#key.mac(identifier);
  }

  /** {@link RootKey.tag} of the identifier that stands in `bytes` from `start` to `end`, into eight words. */
  tagInto(tag: Int32Array, bytes: Uint8Array, start: number, end: number): void {
    this.#key.macInto(tag, bytes, start, end);
  }
}

/**
 * A root key.
 *
 * @param secret - At least 32 random bytes are advised, one byte is required.
 * @throws TypeError if `secret` is not bytes or is empty.
 */
export function createRootKey(secret: Uint8Array): RootKey {
  return new RootKey(secret);
}
