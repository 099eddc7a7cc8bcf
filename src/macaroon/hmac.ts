import { block, bytesOf, compress, finish, START, WORDS, wordAt } from "./sha256.js";

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
  copyWords(START, state);
  compress(state);
}

function startWithTag(state: Int32Array, tags: Int32Array, at: number, pad: number): void {
  for (let i = 0; i < WORDS; i++) block[i] = (tags[at + i] as number) ^ pad;
  for (let i = WORDS; i < 16; i++) block[i] = pad;
  copyWords(START, state);
  compress(state);
}

/** Ends an HMAC whose two states have taken the padded key: the tag is in {@link outer}, until {@link wipe}. */
function close(bytes: Uint8Array, start: number, end: number): void {
  finish(inner, bytes, BLOCK, start, end);
  copyWords(inner, block);
  block[8] = 0x80000000;
  for (let i = 9; i < 15; i++) block[i] = 0;
  block[15] = OUTER_BITS;
  compress(outer);
}

/** Leaves nothing of a key or a tag behind. */
export function wipe(): void {
  block.fill(0);
  inner.fill(0);
  outer.fill(0);
}

function copyWords(from: Int32Array, to: Int32Array, at = 0): void {
  for (let i = 0; i < WORDS; i++) to[at + i] = from[i] as number;
}

/**
 * HMAC-SHA256 (RFC 2104) of the concatenation of `messages` under a key of at most 64 bytes.
 */
export function hmac(key: Uint8Array, ...messages: readonly Uint8Array[]): Uint8Array {
  const message = joined(messages);
  startWithKey(inner, key, INNER);
  startWithKey(outer, key, OUTER);
  close(message, 0, message.length);
  const tag = bytesOf(outer);
  wipe();
  return tag;
}

/**
 * Writes behind the tag at `at` of `tags` the one after the caveat that stands in `bytes` from `start` to `end`. The
 * last call of a chain is followed by {@link wipe}.
 */
export function nextTagInto(
  tags: Int32Array,
  at: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  startWithTag(inner, tags, at, INNER);
  startWithTag(outer, tags, at, OUTER);
  close(bytes, start, end);
  copyWords(outer, tags, at + WORDS);
}

/** SHA-256 of the concatenation of `messages`. */
export function digest(...messages: readonly Uint8Array[]): Uint8Array {
  copyWords(START, inner);
  finish(inner, joined(messages), 0);
  return bytesOf(inner);
}

/** A key whose two padded blocks are hashed once and kept, which halves the cost of each use. */
export class HmacKey {
  readonly #inner: Int32Array = new Int32Array(WORDS);
  readonly #outer: Int32Array = new Int32Array(WORDS);

  constructor(key: Uint8Array) {
    startWithKey(this.#inner, key, INNER);
    startWithKey(this.#outer, key, OUTER);
    block.fill(0);
  }

  mac(message: Uint8Array): Uint8Array {
    this.#mac(message, 0, message.length);
    const tag = bytesOf(outer);
    wipe();
    return tag;
  }

  /** The HMAC of the bytes from `start` to `end`, into `tag`. */
  macInto(tag: Int32Array, bytes: Uint8Array, start: number, end: number): void {
    this.#mac(bytes, start, end);
    copyWords(outer, tag);
    wipe();
  }

  #mac(bytes: Uint8Array, start: number, end: number): void {
    copyWords(this.#inner, inner);
    copyWords(this.#outer, outer);
    close(bytes, start, end);
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
