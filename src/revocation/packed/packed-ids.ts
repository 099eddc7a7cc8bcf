import { randomBytes } from "../../bytes/random.js";
import { type IdPrefix, idOfWords, writeIdWords } from "./id-words.js";
import { type ScrambleKey, scramble, unscramble } from "./scramble.js";
import { Segment, SLOT_WORDS } from "./segment.js";

/** 512 segments: one of 10 million ids is 400 KB, which is the most that anything works through at once. */
const SEGMENT_BITS = 9;
const SEGMENTS: number = 1 << SEGMENT_BITS;
/** Ids that are looked up at once. */
const TOGETHER = 16;
/** An id's time that never comes; times after 2106 do not fit, and are taken for it. */
const NEVER = 0xffff_ffff;

/**
 * Ids of one kind, each with when it goes, in 20 bytes and some room to grow: 22 bytes at 10 million. Look-ups are
 * exact: the whole id is compared. An id of another form is for the caller to keep in another way.
 */
export class PackedIds {
  /** What its ids start with. */
  readonly prefix: IdPrefix;
  /** How many parts {@link PackedIds.parts} gives. */
  readonly partCount: number = SEGMENTS;
  readonly #key: ScrambleKey;
  /** The ids that are looked up, scrambled, and the segment of each. */
  readonly #words: Uint32Array = new Uint32Array(4 * TOGETHER);
  readonly #sought: (Segment | undefined)[] = new Array(TOGETHER).fill(undefined);
  /** What was read ahead: kept, so that it is read. */
  #touched = 0;
  readonly #segments: (Segment | undefined)[] = new Array(SEGMENTS).fill(undefined);
  #size = 0;

  /** @param key - Random and secret, or ids could be chosen that crowd one place. */
  constructor(prefix: IdPrefix, key: ScrambleKey = randomKey()) {
    this.prefix = prefix;
    this.#key = key;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of all slots, used or not. */
  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + (segment?.bytes ?? 0), 0);
  }

  /** A copy of the key. */
  get key(): ScrambleKey {
    return this.#key.slice();
  }

  /**
   * Adds an id, or keeps the later of its times.
   *
   * @param until - Seconds since 1970; `Infinity` for never.
   * @returns Whether the id fits: it is not here where its length or form is another.
   */
  add(id: string, until: number): boolean {
    if (!writeIdWords(id, this.prefix, this.#words)) return false;
    const time = Math.min(Math.max(until, 1), NEVER);
    scramble(this.#words, this.#key);
    const at = (this.#words[0] ?? 0) >>> (32 - SEGMENT_BITS);
    let segment = this.#segments[at];
    if (segment === undefined) {
      segment = new Segment(SEGMENT_BITS);
      this.#segments[at] = segment;
    }
    if (segment.put(this.#words, time)) this.#size++;
    return true;
  }

  /** When an id goes: seconds since 1970, `Infinity` for never, `undefined` if it is not here. */
  get(id: string): number | undefined {
    const segment = this.#seek(id, 0);
    const time = segment === undefined ? 0 : segment.get(this.#words);
    return time === 0 ? undefined : time === NEVER ? Number.POSITIVE_INFINITY : time;
  }

  /**
   * Which of some ids are here, in their order. A look-up in a long list mostly waits for memory; those of several
   * ids wait together.
   */
  which(ids: readonly string[]): readonly string[] {
    const here: string[] = [];
    for (let from = 0; from < ids.length; from += TOGETHER) {
      const end = Math.min(ids.length, from + TOGETHER);
      for (let at = from; at < end; at++) this.#seek(ids[at] ?? "", at - from);
      // A loop of its own, and short: a processor that waits for one of these reads has begun the next.
      for (let at = 0; at < end - from; at++) {
        this.#touched ^= this.#sought[at]?.touch(this.#words, 4 * at) ?? 0;
      }
      for (let at = from; at < end; at++) {
        const until = this.#sought[at - from]?.get(this.#words, 4 * (at - from)) ?? 0;
        if (until !== 0) here.push(ids[at] ?? "");
      }
    }
    return here;
  }

  /** How many slots a look-up of `id` reads. */
  probes(id: string): number {
    return this.#seek(id, 0)?.probes(this.#words) ?? 0;
  }

  /**
   * Removes ids whose time is `now` or earlier, a segment at a time, and gives how many after each: between
   * two of them a caller can let others go on. Ids that are not reached yet are still found.
   *
   * @param now - Seconds since 1970.
   */
  *pruning(now: number): Generator<number, void> {
    // No time of an entry is later than the last that is kept as one, and never is not one.
    const last = Math.min(Math.floor(now), NEVER - 1);
    for (const segment of this.#segments) {
      if (segment === undefined) continue;
      const removed = segment.prune(last);
      this.#size -= removed;
      yield removed;
    }
  }

  /** Every id, in no order that means anything. */
  *ids(): Generator<string, void> {
    const words = new Uint32Array(4);
    for (const part of this.parts()) {
      for (let at = 0; at < part.length; at += SLOT_WORDS) {
        words.set(part.subarray(at, at + 4));
        unscramble(words, this.#key);
        yield idOfWords(words, this.prefix);
      }
    }
  }

  /** Of each segment the slots that are used, as {@link PackedIds.fill} takes them with the same key. */
  *parts(): Generator<Uint32Array, void> {
    for (const segment of this.#segments) {
      const words = new Uint32Array((segment?.size ?? 0) * SLOT_WORDS);
      segment?.copy(words);
      yield words;
    }
  }

  /**
   * Takes over one part, where nothing is yet.
   *
   * @param at - Which of {@link PackedIds.parts}.
   * @returns `false` where it cannot be one.
   */
  fill(at: number, words: Uint32Array): boolean {
    if (at >= SEGMENTS || words.length % SLOT_WORDS !== 0) return false;
    if (this.#segments[at] !== undefined) return false;
    if (words.length === 0) return true;
    for (let from = 0; from < words.length; from += SLOT_WORDS) {
      if ((words[from] ?? 0) >>> (32 - SEGMENT_BITS) !== at) return false;
    }
    const segment = new Segment(SEGMENT_BITS);
    if (!segment.fill(words)) return false;
    this.#segments[at] = segment;
    this.#size += segment.size;
    return true;
  }

  /** The segment that an id belongs in, if there is one yet; the id's words are then where the `at`th are. */
  #seek(id: string, at: number): Segment | undefined {
    const words = this.#words;
    const fits = writeIdWords(id, this.prefix, words, 4 * at);
    if (fits) scramble(words, this.#key, 4 * at);
    const segment = fits ? this.#segments[(words[4 * at] ?? 0) >>> (32 - SEGMENT_BITS)] : undefined;
    this.#sought[at] = segment;
    return segment;
  }
}

function randomKey(): ScrambleKey {
  return new Uint32Array(randomBytes(16).slice().buffer);
}
