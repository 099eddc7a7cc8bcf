import { sha256 } from "@noble/hashes/sha2.js";

const BLOCK = 64;

/** Length of an HMAC-SHA256 tag, and of every signature in a macaroon. */
export const TAG_LENGTH = 32;

type Hasher = ReturnType<typeof sha256.create>;

// One scratch hasher for the whole module: everything here is synchronous, and starting from a copy
// of a pristine state costs about half of building a new hasher per HMAC (docs/performance.md).
const pristine: Hasher = /* @__PURE__ */ sha256.create();
const scratch: Hasher = /* @__PURE__ */ sha256.create();
const pad: Uint8Array = /* @__PURE__ */ new Uint8Array(BLOCK);
// A whole block at once makes the hasher build a DataView of it; halves go through its own buffer.
const firstHalf: Uint8Array = /* @__PURE__ */ pad.subarray(0, BLOCK / 2);
const secondHalf: Uint8Array = /* @__PURE__ */ pad.subarray(BLOCK / 2);

function startWithPad(key: Uint8Array, xor: number): void {
  pad.fill(xor);
  for (let i = 0; i < key.length; i++) pad[i] = (key[i] ?? 0) ^ xor;
  pristine._cloneInto(scratch);
  scratch.update(firstHalf);
  scratch.update(secondHalf);
}

/**
 * HMAC-SHA256 (RFC 2104) of the concatenation of `messages` under a key of at most 64 bytes.
 */
export function hmac(key: Uint8Array, ...messages: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(TAG_LENGTH);
  startWithPad(key, 0x36);
  for (const message of messages) scratch.update(message);
  scratch.digestInto(out);
  startWithPad(key, 0x5c);
  scratch.update(out);
  scratch.digestInto(out);
  pad.fill(0);
  return out;
}

/** SHA-256 of the concatenation of `messages`. */
export function digest(...messages: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(TAG_LENGTH);
  pristine._cloneInto(scratch);
  for (const message of messages) scratch.update(message);
  scratch.digestInto(out);
  return out;
}

/** A key whose two padded blocks are hashed once and kept, which halves the cost of each use. */
export class HmacKey {
  readonly #inner: Hasher;
  readonly #outer: Hasher;

  constructor(key: Uint8Array) {
    startWithPad(key, 0x36);
    this.#inner = scratch._cloneInto();
    startWithPad(key, 0x5c);
    this.#outer = scratch._cloneInto();
    pad.fill(0);
  }

  mac(message: Uint8Array): Uint8Array {
    const out = new Uint8Array(TAG_LENGTH);
    this.#inner._cloneInto(scratch);
    scratch.update(message);
    scratch.digestInto(out);
    this.#outer._cloneInto(scratch);
    scratch.update(out);
    scratch.digestInto(out);
    return out;
  }
}
