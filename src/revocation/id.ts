import { base64urlCode, encodeBase64url } from "../bytes/base64.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { digest, TAG_LENGTH } from "../macaroon/hmac.js";
import { block, compress, START, WORDS, type Words, wordAt } from "../macaroon/sha256.js";

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
// Everything here is synchronous, so one serves all.
const state: Int32Array = /* @__PURE__ */ new Int32Array(WORDS);

/** {@link revocationIdOf} of the tags from `first` up to `end`; a tag is eight words. */
export function revocationIdsOfWords(tags: Words, first: number, end: number): string[] {
  const ids: string[] = [];
  for (let tag = first; tag < end; tag++) ids.push(revocationIdOfWords(tags, WORDS * tag));
  block.fill(0);
  return ids;
}

function revocationIdOfWords(tags: Words, at: number): string {
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
  return idOf(state[0] as number, state[1] as number, state[2] as number, state[3] as number);
}

/** The id that has these four words; a character takes six bits. */
function idOf(a: number, b: number, c: number, d: number): string {
  const code = base64urlCode;
  // One flat text: joined from parts, it would be flattened at each look-up.
  return String.fromCharCode(
    0x72,
    0x76,
    0x5f,
    code(a >> 26),
    code(a >> 20),
    code(a >> 14),
    code(a >> 8),
    code(a >> 2),
    code((a << 4) | (b >>> 28)),
    code(b >> 22),
    code(b >> 16),
    code(b >> 10),
    code(b >> 4),
    code((b << 2) | (c >>> 30)),
    code(c >> 24),
    code(c >> 18),
    code(c >> 12),
    code(c >> 6),
    code(c),
    code(d >> 26),
    code(d >> 20),
    code(d >> 14),
    code(d >> 8),
    code(d >> 2),
    code(d << 4),
  );
}

/** Whether `text` has the form of a revocation id: `rv_` and 22 base64url characters. */
export function isRevocationId(text: string): boolean {
  return FORM.test(text);
}
