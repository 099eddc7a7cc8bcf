import { sha256 } from "@noble/hashes/sha2.js";
import { randomBytes } from "../bytes/random.js";
import type { CompactMacaroon } from "../macaroon/compact.js";

type Hash = (bytes: Uint8Array) => string;

/** How the digests are computed: by the runtime's own SHA-256, where it has one that answers at once. */
export type DigestKind = "native" | "plain";

/**
 * Digests to look tokens up by: SHA-256 of a random key, which is made anew for each object and never leaves
 * it, and then the links. A caller can work out none of them, so that how long a look-up takes says nothing
 * about the tokens that are kept. The digests themselves must not leave the process.
 */
export class KeyedDigest {
  readonly #key: Uint8Array = randomBytes(32);
  readonly #hash: Hash;

  constructor(kind: DigestKind = "native") {
    this.#hash = (kind === "native" ? nativeHash() : undefined) ?? plainHash;
  }

  /** Of a macaroon's identifier and its first `caveats` caveats, as they were received. */
  of(macaroon: CompactMacaroon, caveats: number): string {
    return this.#hash(macaroon.behind(this.#key, caveats));
  }
}

// Asked for by name at run time, so that the library imports no Node module.
function nativeHash(): Hash | undefined {
  const hash = globalThis.process?.getBuiltinModule?.("node:crypto")?.hash;
  return typeof hash === "function" ? (bytes) => hash("sha256", bytes, "binary") : undefined;
}

function plainHash(bytes: Uint8Array): string {
  return String.fromCharCode(...sha256(bytes));
}
