// The compression function of SHA-256 (FIPS 180-4, section 6.2.2), on words. A chain is many HMACs of short texts:
// the hash library spends more on views and buffers for each than on hashing (docs/performance.md), so hmac.ts
// compresses the words of keys and tags directly. Tests compare it with the library and the runtime.

const BLOCK = 64;

/** Words of a state, and of a tag. */
export const WORDS = 8;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const K: Int32Array = /* @__PURE__ */ Int32Array.from([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

/** The state that every hash starts from. */
export const START: Int32Array = /* @__PURE__ */ Int32Array.from([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);

/** The block that {@link compress} reads, in its first 16 words. Everything here is synchronous, so one serves all. */
export const block: Int32Array = /* @__PURE__ */ new Int32Array(BLOCK);

function sum0(x: number): number {
  return ((x >>> 2) | (x << 30)) ^ ((x >>> 13) | (x << 19)) ^ ((x >>> 22) | (x << 10));
}

function sum1(x: number): number {
  return ((x >>> 6) | (x << 26)) ^ ((x >>> 11) | (x << 21)) ^ ((x >>> 25) | (x << 7));
}

/** Takes {@link block} into a state of eight words. */
export function compress(state: Int32Array): void {
  const w = block;
  for (let i = 16; i < BLOCK; i++) {
    const x = w[i - 15] as number;
    const y = w[i - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  // Eight rounds at a time: words change their names, and none is moved.
  for (let i = 0; i < BLOCK; i += 8) {
    h = (h + sum1(e) + (g ^ (e & (f ^ g))) + (K[i + 0] as number) + (w[i + 0] as number)) | 0;
    d = (d + h) | 0;
    h = (h + sum0(a) + ((a & b) | (c & (a | b)))) | 0;
    g = (g + sum1(d) + (f ^ (d & (e ^ f))) + (K[i + 1] as number) + (w[i + 1] as number)) | 0;
    c = (c + g) | 0;
    g = (g + sum0(h) + ((h & a) | (b & (h | a)))) | 0;
    f = (f + sum1(c) + (e ^ (c & (d ^ e))) + (K[i + 2] as number) + (w[i + 2] as number)) | 0;
    b = (b + f) | 0;
    f = (f + sum0(g) + ((g & h) | (a & (g | h)))) | 0;
    e = (e + sum1(b) + (d ^ (b & (c ^ d))) + (K[i + 3] as number) + (w[i + 3] as number)) | 0;
    a = (a + e) | 0;
    e = (e + sum0(f) + ((f & g) | (h & (f | g)))) | 0;
    d = (d + sum1(a) + (c ^ (a & (b ^ c))) + (K[i + 4] as number) + (w[i + 4] as number)) | 0;
    h = (h + d) | 0;
    d = (d + sum0(e) + ((e & f) | (g & (e | f)))) | 0;
    c = (c + sum1(h) + (b ^ (h & (a ^ b))) + (K[i + 5] as number) + (w[i + 5] as number)) | 0;
    g = (g + c) | 0;
    c = (c + sum0(d) + ((d & e) | (f & (d | e)))) | 0;
    b = (b + sum1(g) + (a ^ (g & (h ^ a))) + (K[i + 6] as number) + (w[i + 6] as number)) | 0;
    f = (f + b) | 0;
    b = (b + sum0(c) + ((c & d) | (e & (c | d)))) | 0;
    a = (a + sum1(f) + (h ^ (f & (g ^ h))) + (K[i + 7] as number) + (w[i + 7] as number)) | 0;
    e = (e + a) | 0;
    a = (a + sum0(b) + ((b & c) | (d & (b | c)))) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
}

/**
 * Takes the bytes from `start` to `end` into a state, and ends the hash with its padding.
 *
 * @param before - Bytes that the state has taken already: whole blocks.
 */
export function finish(
  state: Int32Array,
  bytes: Uint8Array,
  before: number,
  start = 0,
  end: number = bytes.length,
): void {
  let at = start;
  for (; end - at >= BLOCK; at += BLOCK) {
    for (let i = 0, j = at; i < 16; i++, j += 4) block[i] = wordAt(bytes, j);
    compress(state);
  }
  let i = 0;
  for (; end - at >= 4; at += 4) block[i++] = wordAt(bytes, at);
  let last = 0;
  let shift = 24;
  for (; at < end; at++, shift -= 8) last |= (bytes[at] as number) << shift;
  block[i++] = last | (0x80 << shift);
  if (i > 14) {
    while (i < 16) block[i++] = 0;
    compress(state);
    i = 0;
  }
  while (i < 14) block[i++] = 0;
  const bits = (before + end - start) * 8;
  block[14] = Math.floor(bits / 2 ** 32);
  block[15] = bits;
  compress(state);
}

/** Words of 32 bits, with a sign. */
export type Words = ArrayLike<number>;

/** The bytes of eight words from `at`, at the start of `out`. */
export function bytesOf(
  words: Words,
  at = 0,
  out: Uint8Array = new Uint8Array(4 * WORDS),
): Uint8Array {
  for (let i = 0; i < WORDS; i++) {
    const word = words[at + i] as number;
    out[4 * i] = word >>> 24;
    out[4 * i + 1] = word >>> 16;
    out[4 * i + 2] = word >>> 8;
    out[4 * i + 3] = word;
  }
  return out;
}

/** The four bytes at `at` as a word. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}
