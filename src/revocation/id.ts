import { concatBytes } from "@noble/hashes/utils.js";
import { encodeBase64url } from "../bytes/base64.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { sha256 } from "../macaroon/hmac.js";

const DOMAIN: Uint8Array = /* @__PURE__ */ encodeUtf8("proviso-revocation-v1");
const PREFIX = "rv_";
const LENGTH = 16;
const FORM = /^rv_[A-Za-z0-9_-]{22}$/;

/**
 * The revocation id of the link whose tag this is. The tag cannot be recovered from it, so ids may
 * be published and logged.
 */
export function revocationIdOf(tag: Uint8Array): string {
  return `${PREFIX}${encodeBase64url(sha256(concatBytes(DOMAIN, tag)).subarray(0, LENGTH))}`;
}

/** Whether `text` has the form of a revocation id: `rv_` and 22 base64url characters. */
export function isRevocationId(text: string): boolean {
  return FORM.test(text);
}
