import { block, bytesOf, compress, finish, START, wordAt } from "./sha256.js";

const BLOCK = 64;

/** Length of an HMAC-SHA256 tag, and of every signature in a macaroon. */
export const TAG_LENGTH = 32;

const INNER = 0x36363636;
const OUTER = 0x5c5c5c5c;
// A tag behind a padded key: one block and 32 bytes.
const OUTER_BITS = (BLOCK + TAG_LENGTH) * 8;

const EMPTY: Uint8Array = /* @__PURE__ */ new Uint8Array();
const inner: Int32Array = /* @__PURE__ */ new Int32Array(8);
const outer: Int32Array = /* @__PURE__ */ new Int32Array(8);

/** Puts a state where it starts, with the padded key as its first block. */
function startWithKey(state: Int32Array, key: Uint8Array, pad: number): void {
  const whole = key.length & ~3;
  let i = 0;
  for (; i < whole; i += 4) block[i >> 2] = wordAt(key, i) ^ pad;
  block.fill(pad, whole >> 2, 16);
  for (; i < key.length; i++) {
    block[i >> 2] = (block[i >> 2] ?? 0) ^ ((key[i] ?? 0) << (24 - 8 * (i & 3)));
  }
  state.set(START);
  compress(state);
}

/** Ends an HMAC whose two states have taken the padded key. */
function tagOf(message: Uint8Array): Uint8Array {
  finish(inner, message, BLOCK);
  block.set(inner);
  block.fill(0, 8, 16);
  block[8] = 0x80000000;
  block[15] = OUTER_BITS;
  compress(outer);
  const tag = bytesOf(outer);
  block.fill(0);
  inner.fill(0);
  return tag;
}

/**
 * HMAC-SHA256 (RFC 2104) of the concatenation of `messages` under a key of at most 64 bytes.
 */
export function hmac(key: Uint8Array, ...messages: readonly Uint8Array[]): Uint8Array {
  const message = joined(messages);
  startWithKey(inner, key, INNER);
  startWithKey(outer, key, OUTER);
  return tagOf(message);
}

/** SHA-256 of the concatenation of `messages`. */
export function digest(...messages: readonly Uint8Array[]): Uint8Array {
  inner.set(START);
  finish(inner, joined(messages), 0);
  return bytesOf(inner);
}

/** A key whose two padded blocks are hashed once and kept, which halves the cost of each use. */
export class HmacKey {
  readonly #inner: Int32Array = new Int32Array(8);
  readonly #outer: Int32Array = new Int32Array(8);

  constructor(key: Uint8Array) {
    startWithKey(this.#inner, key, INNER);
    startWithKey(this.#outer, key, OUTER);
    block.fill(0);
  }

  mac(message: Uint8Array): Uint8Array {
    inner.set(this.#inner);
    outer.set(this.#outer);
    return tagOf(message);
  }
}

function joined(messages: readonly Uint8Array[]): Uint8Array {
  const [first = EMPTY, ...others] = messages;
  if (others.length === 0) return first;
  const length = messages.reduce((sum, message) => sum + message.length, 0);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const message of messages) {
    whole.set(message, at);
    at += message.length;
  }
  return whole;
}
