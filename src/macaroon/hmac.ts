import { hmac as nobleHmac } from "@noble/hashes/hmac.js";
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { encodeBase64url } from "../bytes/base64.js";
import { encodeUtf8 } from "../bytes/utf8.js";

/** Length of an HMAC-SHA256 tag, and of every signature in a macaroon, in bytes. */
export const TAG_LENGTH = 32;

const BLOCK_LENGTH = 64;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** SHA-256 and HMAC-SHA256 from one implementation. Both return a new array of 32 bytes. */
export interface Hashes {
  sha256(message: Uint8Array): Uint8Array;
  hmac(key: Uint8Array, message: Uint8Array): Uint8Array;
}

/** The part of `node:crypto` that {@link hashesOf} uses. */
export interface NodeCrypto {
  hash?(algorithm: "sha256", message: Uint8Array, encoding: "buffer"): Uint8Array;
}

/**
 * Returns the hash functions of `node:crypto` if it has the function `hash`, otherwise the hash functions of
 * `@noble/hashes`.
 *
 * @param crypto - `undefined` for a runtime without `node:crypto`.
 */
export function hashesOf(crypto: NodeCrypto | undefined): Hashes {
  const hash = crypto?.hash;
  if (hash === undefined) {
    return {
      sha256: nobleSha256,
      hmac: (key, message) => nobleHmac(nobleSha256, key, message),
    };
  }
  const buffer = (message: Uint8Array): Uint8Array => hash("sha256", message, "buffer");
  // Return a copy, never a Node Buffer, whose slices would share its memory.
  return {
    sha256: (message) => new Uint8Array(buffer(message)),
    hmac: (key, message) => new Uint8Array(padded(buffer, key, message)),
  };
}

/** Computes HMAC with a hash function (RFC 2104): two calls of `hash` are faster than a `createHmac` object. */
function padded(hash: Hashes["sha256"], key: Uint8Array, message: Uint8Array): Uint8Array {
  const inner = new Uint8Array(BLOCK_LENGTH + message.length).fill(INNER_PAD, 0, BLOCK_LENGTH);
  const outer = new Uint8Array(BLOCK_LENGTH + TAG_LENGTH).fill(OUTER_PAD, 0, BLOCK_LENGTH);
  const short = key.length > BLOCK_LENGTH ? hash(key) : key;
  for (let at = 0; at < short.length; at++) {
    const byte = short[at] ?? 0;
    inner[at] = byte ^ INNER_PAD;
    outer[at] = byte ^ OUTER_PAD;
  }
  inner.set(message, BLOCK_LENGTH);
  outer.set(hash(inner), BLOCK_LENGTH);
  return hash(outer);
}

// The module is requested by name at run time, so that the library imports no Node module.
const HASHES: Hashes = /* @__PURE__ */ hashesOf(
  globalThis.process?.getBuiltinModule?.("node:crypto"),
);

/** Returns the SHA-256 hash of a message (FIPS 180-4). */
export function sha256(message: Uint8Array): Uint8Array {
  return HASHES.sha256(message);
}

/** Returns the SHA-256 hash of a string's UTF-8 bytes, in base64url. */
export function digestOfText(text: string): string {
  return encodeBase64url(sha256(encodeUtf8(text)));
}

/** Returns the HMAC-SHA256 of a message (RFC 2104). */
export function hmac(key: Uint8Array, message: Uint8Array): Uint8Array {
  return HASHES.hmac(key, message);
}
