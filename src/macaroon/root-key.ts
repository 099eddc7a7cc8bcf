import { equalBytes } from "@noble/ciphers/utils.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { notA } from "../checks/kinds.js";
import { hmac } from "./hmac.js";

const GENERATOR: Uint8Array = /* @__PURE__ */ encodeUtf8("macaroons-key-generator");

/** Derives the key with which a macaroon's chain starts, from a secret of any length. */
export function deriveKey(secret: Uint8Array): Uint8Array {
  return hmac(GENERATOR, secret);
}

/** A root key. Its secret is in a private field, so printing the key does not show the secret. */
export class RootKey {
  readonly #key: Uint8Array;

  /**
   * @param secret - The shared secret. At least 32 random bytes are recommended; one is required.
   * @throws TypeError if `secret` is not bytes or is empty.
   */
  constructor(secret: Uint8Array) {
    if (!(secret instanceof Uint8Array)) throw notA("secret", "a Uint8Array", secret);
    if (secret.length === 0) throw new TypeError("secret must not be empty");
    this.#key = deriveKey(new Uint8Array(secret));
  }

  /** Returns the tag of the chain's first link: the HMAC of the identifier with the derived key. */
  tag(identifier: Uint8Array): Uint8Array {
    return hmac(this.#key, identifier);
  }

  /** Returns whether both keys have the same secret, in constant time. */
  equals(other: RootKey): boolean {
    return equalBytes(this.#key, other.#key);
  }
}

/** @throws TypeError that names the argument that is not a {@link RootKey}. */
export function assertRootKey(value: unknown, where: string): asserts value is RootKey {
  if (!(value instanceof RootKey))
    throw notA(where, "a RootKey, as createRootKey() gives it", value);
}

/**
 * Creates a root key.
 *
 * @param secret - At least 32 random bytes are recommended; one is required.
 * @throws TypeError if `secret` is not bytes or is empty.
 */
export function createRootKey(secret: Uint8Array): RootKey {
  return new RootKey(secret);
}
