// A binary fuse filter of three segments and 16 bits (Graf and Lemire, "Binary Fuse Filters: Fast and Smaller
// Than Xor Filters", 2022): some 18 bits an id, and one false hit in 65,536 look-ups of other ids. It stands in
// front of an exact look-up, and never decides by itself. No npm package has one of 16 bits.

import { randomBytes } from "../../bytes/random.js";
import { type IdPrefix, writeIdWords } from "../packed/id-words.js";
import { hashWords } from "../packed/scramble.js";

const MAGIC = 0x50_56_46_31; // "PVF1"
/** Bytes: magic, entries, segment length, segments, and eight of seed. */
const HEADER = 24;
/** Entries; the index of one and which of its three places are kept in 32 bits. */
const MOST = 2 ** 30;
/** A random seed fails now and then; so often in turn only where two ids are the same. */
const ATTEMPTS = 100;

/** The part of a filter that says where an id's three places are. */
interface Shape {
  readonly size: number;
  /** A power of two, 65,536 at most. */
  readonly segmentLength: number;
  readonly segments: number;
  readonly seed: Uint32Array;
}

/** The ids that a filter is made of, whose count is known. */
export interface FilterIds {
  readonly size: number;
  ids(): Iterable<string>;
}

/** A set of ids in some 2.3 bytes each. What it does not have is not in the set; what it has may be. */
export class RevocationFilter {
  readonly #shape: Shape;
  readonly #cells: Uint16Array;
  readonly #words: Uint32Array = new Uint32Array(4);
  readonly #places: Uint32Array = new Uint32Array(4);

  /** @internal Use {@link createRevocationFilter} or {@link readRevocationFilter}. */
  constructor(shape: Shape, cells: Uint16Array) {
    this.#shape = shape;
    this.#cells = cells;
  }

  /** How many ids it was made of. */
  get size(): number {
    return this.#shape.size;
  }

  /** `false` where the id is certainly not in the set; of an id that cannot be in one, `true`. */
  mayHave(id: string): boolean {
    if (!readId(id, this.#words)) return true;
    if (this.#shape.size === 0) return false;
    const { seed } = this.#shape;
    hash(this.#words, seed, this.#places);
    locate(this.#shape, this.#places[0] ?? 0, this.#places[1] ?? 0, this.#places);
    return fingerprintAt(this.#cells, this.#places) === this.#places[3];
  }

  /** The filter in bytes, for {@link readRevocationFilter}; words are little-endian. */
  toBytes(): Uint8Array {
    const { size, segmentLength, segments, seed } = this.#shape;
    const bytes = new Uint8Array(HEADER + 2 * this.#cells.length);
    const view = new DataView(bytes.buffer);
    const header = [MAGIC, size, segmentLength, segments, seed[0] ?? 0, seed[1] ?? 0];
    for (const [at, word] of header.entries()) view.setUint32(4 * at, word, true);
    for (let at = 0; at < this.#cells.length; at++) {
      view.setUint16(HEADER + 2 * at, this.#cells[at] ?? 0, true);
    }
    return bytes;
  }
}

/**
 * Reads a filter. Its bytes must be known for the issuer's before, and when they were made: a made-up or old filter
 * leaves ids out.
 *
 * @see createRevocationFilter
 * @throws TypeError if the bytes are not a filter's.
 */
export function readRevocationFilter(bytes: Uint8Array): RevocationFilter {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (at: number): number => (bytes.length < HEADER ? 0 : view.getUint32(4 * at, true));
  const [size, segmentLength, segments] = [word(1), word(2), word(3)];
  const expected = shapeFor(size);
  const sound =
    word(0) === MAGIC &&
    size <= MOST &&
    expected.segmentLength === segmentLength &&
    expected.segments === segments &&
    bytes.length === HEADER + 2 * cellsOf(expected);
  if (!sound) throw new TypeError("these bytes are not a revocation filter");
  const cells = new Uint16Array(cellsOf(expected));
  for (let at = 0; at < cells.length; at++) cells[at] = view.getUint16(HEADER + 2 * at, true);
  return new RevocationFilter({ ...expected, size, seed: Uint32Array.of(word(4), word(5)) }, cells);
}

/**
 * Makes a filter of the ids of revoked links and capabilities, to send to a service that has no room for a list: some
 * 2.3 bytes an id, and one false hit in 65,536 look-ups of other ids. A hit is no refusal: look the id up exactly then.
 * Revoked keys and principals are few, and are no part of it. Making it takes some 20 bytes an id (Graf and Lemire,
 * "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022).
 *
 * @throws TypeError for an id that is neither `rv_` and 22 characters nor `cap_` and 16, or for one that comes
 *   twice.
 *
 * @example
 * ```ts
 * import { createRevocationFilter, readRevocationFilter } from "proviso/revocations";
 *
 * const revoked = ["rv_6xKR9-E0ePxTq4lBDnHVzA", "cap_AAAAAAAAAAAAAAAA"];
 * const sent = createRevocationFilter({ size: revoked.length, ids: () => revoked }).toBytes();
 *
 * const filter = readRevocationFilter(sent);
 * filter.mayHave("cap_AAAAAAAAAAAAAAAA"); // => true
 * filter.size; // => 2
 * ```
 */
export function createRevocationFilter(ids: FilterIds): RevocationFilter {
  const { size } = ids;
  if (!Number.isSafeInteger(size) || size < 0 || size > MOST) {
    throw new TypeError(`a filter is made of ${MOST} ids at most`);
  }
  const [high, low] = [new Uint32Array(size), new Uint32Array(size)];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const seed = new Uint32Array(randomBytes(8).slice().buffer);
    const shape = { ...shapeFor(size), size, seed };
    hashAll(ids, seed, high, low);
    const cells = assign(shape, high, low);
    if (cells !== undefined) return new RevocationFilter(shape, cells);
  }
  throw new TypeError("no filter can be made of these ids: one of them comes twice");
}

function hashAll(ids: FilterIds, seed: Uint32Array, high: Uint32Array, low: Uint32Array): void {
  const [words, pair] = [new Uint32Array(4), new Uint32Array(4)];
  let at = 0;
  for (const id of ids.ids()) {
    if (at >= high.length || !readId(id, words)) {
      throw new TypeError(`${JSON.stringify(id)} cannot be in a filter of ${high.length} ids`);
    }
    hash(words, seed, pair);
    high[at] = pair[0] ?? 0;
    low[at++] = pair[1] ?? 0;
  }
  if (at < high.length) throw new TypeError(`there are ${at} ids, and not ${high.length}`);
}

/** Peels off the ids that alone have a place, then gives each its place's value, last first. */
function assign(shape: Shape, high: Uint32Array, low: Uint32Array): Uint16Array | undefined {
  const length = cellsOf(shape);
  const places = new Uint32Array(4);
  const [counts, mixed] = [new Uint8Array(length), new Uint32Array(length)];
  for (let id = 0; id < shape.size; id++) {
    locate(shape, high[id] ?? 0, low[id] ?? 0, places);
    for (let which = 0; which < 3; which++) {
      const place = places[which] ?? 0;
      const count = (counts[place] ?? 0) + 1;
      if (count > 255) return undefined;
      counts[place] = count;
      mixed[place] = (mixed[place] ?? 0) ^ id;
    }
  }
  const [order, own] = [new Uint32Array(shape.size), new Uint32Array(shape.size)];
  let peeled = 0;
  const alone: number[] = [];
  for (let start = 0; start < length; start++) {
    alone.push(start);
    for (let place = alone.pop(); place !== undefined; place = alone.pop()) {
      if (counts[place] !== 1) continue;
      const id = mixed[place] ?? 0;
      order[peeled] = id;
      own[peeled++] = place;
      locate(shape, high[id] ?? 0, low[id] ?? 0, places);
      for (let which = 0; which < 3; which++) {
        const other = places[which] ?? 0;
        counts[other] = (counts[other] ?? 0) - 1;
        mixed[other] = (mixed[other] ?? 0) ^ id;
        if (counts[other] === 1) alone.push(other);
      }
    }
  }
  if (peeled < shape.size) return undefined;
  const cells = new Uint16Array(length);
  for (let at = peeled - 1; at >= 0; at--) {
    const id = order[at] ?? 0;
    locate(shape, high[id] ?? 0, low[id] ?? 0, places);
    // Its own place is still 0 here.
    cells[own[at] ?? 0] = (places[3] ?? 0) ^ fingerprintAt(cells, places);
  }
  return cells;
}

function fingerprintAt(cells: Uint16Array, places: Uint32Array): number {
  const first = cells[places[0] ?? 0] ?? 0;
  const second = cells[places[1] ?? 0] ?? 0;
  return first ^ second ^ (cells[places[2] ?? 0] ?? 0);
}

function readId(id: string, words: Uint32Array): boolean {
  const prefix: IdPrefix = id.startsWith("cap_") ? "cap_" : "rv_";
  return writeIdWords(id, prefix, words);
}

/** 64 bits, as two words. */
function hash(words: Uint32Array, seed: Uint32Array, pair: Uint32Array): void {
  const k0 = seed[0] ?? 0;
  const k1 = seed[1] ?? 0;
  const high = hashWords(words[0] ?? 0, words[1] ?? 0, words[2] ?? 0, k0, k1);
  pair[0] = high;
  pair[1] = hashWords(words[3] ?? 0, high, words[0] ?? 0, k1, k0);
}

/** The three places of an id, and its fingerprint. */
function locate(shape: Shape, high: number, low: number, places: Uint32Array): void {
  const { segmentLength, segments } = shape;
  const mask = segmentLength - 1;
  const first = Math.floor((high / 0x1_0000_0000) * (segments * segmentLength));
  places[0] = first;
  places[1] = (first + segmentLength) ^ ((low >>> 16) & mask);
  places[2] = (first + 2 * segmentLength) ^ (low & mask);
  const mixed = Math.imul(high ^ (low >>> 15) ^ (low << 17), 0x9e37_79b1);
  places[3] = (mixed ^ (mixed >>> 16)) & 0xffff;
}

function shapeFor(size: number): Omit<Shape, "size" | "seed"> {
  const power = Math.floor(Math.log(Math.max(size, 2)) / Math.log(3.33) + 2.25);
  const segmentLength = 2 ** Math.min(16, power);
  const factor = Math.max(1.125, 0.875 + (0.25 * Math.log(1e6)) / Math.log(Math.max(size, 2)));
  const segments = Math.max(1, Math.ceil(Math.round(size * factor) / segmentLength) - 2);
  return { segmentLength, segments };
}

function cellsOf({ segmentLength, segments }: Omit<Shape, "size" | "seed">): number {
  return (segments + 2) * segmentLength;
}
