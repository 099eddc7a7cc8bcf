import { sha256 } from "@noble/hashes/sha2.js";
import { randomBytes } from "../bytes/random.js";

const KEY_LENGTH = 32;

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
    this.#buffer = new Uint8Array(KEY_LENGTH + longest);
    this.#buffer.set(randomBytes(KEY_LENGTH));
    this.#hash = (kind === "native" ? nativeHash() : undefined) ?? plainHash;
  }

  /** Of the first `length` bytes; `undefined` if that is more than the longest. */
  of(bytes: Uint8Array, length: number): string | undefined {
    const end = KEY_LENGTH + length;
    if (end > this.#buffer.length) return undefined;
    this.#buffer.set(bytes.subarray(0, length), KEY_LENGTH);
    return this.#hash(this.#buffer.subarray(0, end));
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
