// Where an id stands in a packed set depends on a key, so that no one can choose ids that crowd one
// place. A scramble is a keyed one-to-one mapping of 128 bits: two Feistel steps with HalfSipHash-1-3
// (Aumasson and Bernstein). Its first word is the place; the four words together are still the whole id.

/** Four words of key. */
export type ScrambleKey = Uint32Array;

/** Scrambles four words in place, from `at` on. */
export function scramble(words: Uint32Array, key: ScrambleKey, at = 0): void {
  const w0 = words[at] ?? 0;
  const w1 = words[at + 1] ?? 0;
  const w2 = words[at + 2] ?? 0;
  const last = (words[at + 3] ?? 0) ^ hashWords(w0, w1, w2, key[0] ?? 0, key[1] ?? 0);
  words[at] = w0 ^ hashWords(w1, w2, last, key[2] ?? 0, key[3] ?? 0);
  words[at + 3] = last;
}

/** Undoes {@link scramble}. */
export function unscramble(words: Uint32Array, key: ScrambleKey): void {
  const w1 = words[1] ?? 0;
  const w2 = words[2] ?? 0;
  const last = words[3] ?? 0;
  const w0 = (words[0] ?? 0) ^ hashWords(w1, w2, last, key[2] ?? 0, key[3] ?? 0);
  words[0] = w0;
  words[3] = last ^ hashWords(w0, w1, w2, key[0] ?? 0, key[1] ?? 0);
}

/** HalfSipHash-1-3 of three words, 32 bits. */
export function hashWords(a: number, b: number, c: number, k0: number, k1: number): number {
  let v0 = k0 | 0;
  let v1 = k1 | 0;
  let v2 = k0 ^ 0x6c796765;
  let v3 = k1 ^ 0x74656462;
  for (let step = 0; step < 7; step++) {
    // The last block is the length, in bytes, in the highest byte.
    const block = step === 0 ? a : step === 1 ? b : step === 2 ? c : step === 3 ? 12 << 24 : 0;
    v3 ^= block;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= block;
    if (step === 3) v2 ^= 0xff;
  }
  return v1 ^ v3;
}
