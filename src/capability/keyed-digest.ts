import { sha256 } from "@noble/hashes/sha2.js";
import { randomBytes } from "../bytes/random.js";
import type { MacaroonParts } from "../macaroon/macaroon.js";

const KEY_LENGTH = 32;
const ENCODER = /* @__PURE__ */ new TextEncoder();
// The first byte after the key: no text has the digest of a chain.
const TEXT = 0;
const CHAIN = 1;

type Hash = (bytes: Uint8Array) => string;

/** How the digests are computed: by the runtime's own SHA-256, where it has one that answers at once. */
export type DigestKind = "native" | "plain";

/**
 * Digests to look tokens up by: SHA-256 of a random key, which is made anew for each object and never leaves
 * it, and then the bytes. A caller can work out none of them, so that how long a look-up takes says nothing
 * about the tokens that are kept. The digests themselves must not leave the process.
 */
export class KeyedDigest {
  readonly #buffer: Uint8Array;
  readonly #hash: Hash;

  /** @param longest - Bytes of the longest input; a longer one has no digest. */
  constructor(longest: number, kind: DigestKind = "native") {
    this.#buffer = new Uint8Array(KEY_LENGTH + 1 + longest);
    this.#buffer.set(randomBytes(KEY_LENGTH));
    this.#hash = (kind === "native" ? nativeHash() : undefined) ?? plainHash;
  }

  /** Of a text; `undefined` unless it is ASCII alone, which is its own bytes and no other text's. */
  text(text: string): string | undefined {
    const start = KEY_LENGTH + 1;
    if (text.length > this.#buffer.length - start) return undefined;
    this.#buffer[KEY_LENGTH] = TEXT;
    const { read, written } = ENCODER.encodeInto(text, this.#buffer.subarray(start));
    // Other characters have more bytes than code units; a lone surrogate would be written as another. Where the buffer
    // ends first, not all is read.
    if (read !== text.length || written !== text.length) return undefined;
    return this.#hash(this.#buffer.subarray(0, start + written));
  }

  /** Of a macaroon's identifier and its first `caveats` caveats, each with its length before it. */
  chain({ identifier, caveats: all }: MacaroonParts, caveats: number): string | undefined {
    this.#buffer[KEY_LENGTH] = CHAIN;
    let end = this.#append(KEY_LENGTH + 1, identifier);
    for (let at = 0; at < caveats && end !== undefined; at++) {
      const caveat = all[at];
      end = caveat?.kind === "first-party" ? this.#append(end, caveat.identifier) : undefined;
    }
    return end === undefined ? undefined : this.#hash(this.#buffer.subarray(0, end));
  }

  #append(at: number, bytes: Uint8Array): number | undefined {
    const end = at + 4 + bytes.length;
    if (end > this.#buffer.length) return undefined;
    for (let byte = 0; byte < 4; byte++) this.#buffer[at + byte] = bytes.length >>> (8 * byte);
    this.#buffer.set(bytes, at + 4);
    return end;
  }
}

// Asked for by name at run time, so that the library imports no Node module.
function nativeHash(): Hash | undefined {
  const hash = globalThis.process?.getBuiltinModule?.("node:crypto")?.hash;
  return typeof hash === "function" ? (bytes) => hash("sha256", bytes, "base64") : undefined;
}

function plainHash(bytes: Uint8Array): string {
  return String.fromCharCode(...sha256(bytes));
}
