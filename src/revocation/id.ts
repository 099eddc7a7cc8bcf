import { encodeBase64url, writeBase64url } from "../bytes/base64.js";
import { asciiText, encodeUtf8 } from "../bytes/utf8.js";
import { digest, TAG_LENGTH } from "../macaroon/hmac.js";
import { block, bytesOf, compress, START, WORDS, type Words, wordAt } from "../macaroon/sha256.js";

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

// The domain's last byte stands before the tag in a word: the tag's words are moved by eight bits.
const DOMAIN_WORDS: readonly number[] = /* @__PURE__ */ [0, 4, 8, 12, 16].map((at) =>
  wordAt(DOMAIN, at),
);
const DOMAIN_END: number = /* @__PURE__ */ (DOMAIN[20] ?? 0) << 24;
const BITS = (21 + TAG_LENGTH) * 8;
// Everything here is synchronous, so one of each serves all.
const state: Int32Array = /* @__PURE__ */ new Int32Array(WORDS);
const hash: Uint8Array = /* @__PURE__ */ new Uint8Array(TAG_LENGTH);
const text: Uint8Array = /* @__PURE__ */ encodeUtf8(
  PREFIX + encodeBase64url(hash.slice(0, LENGTH)),
);

/** {@link revocationIdOf} of the tag that is the eight words from `at`. */
export function revocationIdOfWords(tags: Words, at: number): string {
  for (let i = 0; i < DOMAIN_WORDS.length; i++) block[i] = DOMAIN_WORDS[i] as number;
  let before = DOMAIN_END;
  for (let i = 0; i < WORDS; i++) {
    const word = tags[at + i] as number;
    block[5 + i] = before | (word >>> 8);
    before = word << 24;
    state[i] = START[i] as number;
  }
  block[13] = before | 0x800000;
  block[14] = 0;
  block[15] = BITS;
  compress(state);
  block.fill(0);
  bytesOf(state, 0, hash);
  writeBase64url(hash, LENGTH, text, PREFIX.length);
  return asciiText(text);
}

/** Whether `text` has the form of a revocation id: `rv_` and 22 base64url characters. */
export function isRevocationId(text: string): boolean {
  return FORM.test(text);
}
