import { concatBytes } from "@noble/hashes/utils.js";
import { encodeBase64url } from "../bytes/base64.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { sha256 } from "../macaroon/hmac.js";

const DOMAIN: Uint8Array = /* @__PURE__ */ encodeUtf8("proviso-revocation-v1");
const PREFIX = "rv_";
const LENGTH = 16;
const FORM = /^rv_[A-Za-z0-9_-]{22}$/;

/**
 * Returns the revocation id of the link with this tag. The tag cannot be recovered from the id, so ids may be
 * published and logged.
 */
export function revocationIdOf(tag: Uint8Array): string {
  return `${PREFIX}${encodeBase64url(sha256(concatBytes(DOMAIN, tag)).subarray(0, LENGTH))}`;
}

/** Returns whether `text` has the form of a revocation id: `rv_` and 22 base64url characters. */
export function isRevocationId(text: string): boolean {
  return FORM.test(text);
}
