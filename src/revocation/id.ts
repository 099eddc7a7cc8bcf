import { concatBytes } from "@noble/hashes/utils.js";
import { decodeBase64, encodeBase64url } from "../bytes/base64.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { sha256 } from "../macaroon/hmac.js";

const DOMAIN: Uint8Array = /* @__PURE__ */ encodeUtf8("proviso-revocation-v1");
const PREFIX = "rv_";
const LENGTH = 16;
const FORM = /^rv_[A-Za-z0-9_-]{22}$/;

/**
 * Returns the revocation id of the link with this tag. The tag cannot be computed from the id, so ids may be
 * published and logged.
 */
export function revocationIdOf(tag: Uint8Array): string {
  return `${PREFIX}${encodeBase64url(sha256(concatBytes(DOMAIN, tag)).subarray(0, LENGTH))}`;
}

/** Returns whether `text` has the form of a revocation id: `rv_` and 22 base64url characters. */
export function isRevocationId(text: string): boolean {
  return FORM.test(text);
}

/**
 * Returns the id of the chain whose last link has this revocation id. It is a UUID of version 8 (RFC 9562, section
 * 5.8) with the 16 bytes of the revocation id, in which version and variant overwrite six bits.
 *
 * @throws TypeError if `id` is not a revocation id.
 */
export function chainIdOf(revocationId: string): string {
  if (!isRevocationId(revocationId)) {
    throw new TypeError("a chain id is made from a revocation id: rv_ and 22 base64url characters");
  }
  const bytes = decodeBase64(revocationId.slice("rv_".length));
  const digits = Array.from(bytes, (byte, at) => {
    const own = at === 6 ? (byte & 0x0f) | 0x80 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return own.toString(16).padStart(2, "0");
  }).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
