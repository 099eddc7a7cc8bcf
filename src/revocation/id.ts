import { encodeBase64url, writeBase64url } from "../bytes/base64.js";
import { asciiText, encodeUtf8 } from "../bytes/utf8.js";
import { digest, TAG_LENGTH } from "../macaroon/hmac.js";
import { bytesOf, finish, START, type Words } from "../macaroon/sha256.js";

const DOMAIN: Uint8Array = /* @__PURE__ */ encodeUtf8("proviso-revocation-v1");
const PREFIX = "rv_";
const LENGTH = 16;
const FORM = /^rv_[A-Za-z0-9_-]{22}$/;

/**
 * The revocation id of the link whose tag this is. The tag cannot be recovered from it, so ids may
 * be published and logged.
 */
export function revocationIdOf(tag: Uint8Array): string {
  return `${PREFIX}${encodeBase64url(digest(DOMAIN, tag).subarray(0, LENGTH))}`;
}

// What is hashed: the domain and a tag. Everything here is synchronous, so one serves all.
const input: Uint8Array = /* @__PURE__ */ (() => {
  const bytes = new Uint8Array(DOMAIN.length + TAG_LENGTH);
  bytes.set(DOMAIN);
  return bytes;
})();
const tagIn: Uint8Array = /* @__PURE__ */ input.subarray(DOMAIN.length);
const state: Int32Array = /* @__PURE__ */ new Int32Array(8);
const hash: Uint8Array = /* @__PURE__ */ new Uint8Array(TAG_LENGTH);
const text: Uint8Array = /* @__PURE__ */ encodeUtf8(
  PREFIX + encodeBase64url(hash.slice(0, LENGTH)),
);

/** {@link revocationIdOf} of the tag that is the eight words from `at`. */
export function revocationIdOfWords(tags: Words, at: number): string {
  bytesOf(tags, at, tagIn);
  state.set(START);
  finish(state, input, 0);
  bytesOf(state, 0, hash);
  tagIn.fill(0);
  writeBase64url(hash, LENGTH, text, PREFIX.length);
  return asciiText(text);
}

/** Whether `text` has the form of a revocation id: `rv_` and 22 base64url characters. */
export function isRevocationId(text: string): boolean {
  return FORM.test(text);
}
