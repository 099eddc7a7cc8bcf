import { decodeBase64urlInto, encodeBase64url } from "../bytes/base64.js";
import { varintLength, writeVarint } from "../bytes/cursor.js";
import { asciiText } from "../bytes/utf8.js";
import { nextTagInto, TAG_LENGTH, wipe } from "./hmac.js";
import { caveatTooLarge, type MacaroonLimits, tooLarge, tooManyCaveats } from "./limits.js";
import type { RootKey } from "./root-key.js";
import { bytesOf, WORDS, type Words, wordAt } from "./sha256.js";

// Room before the bytes, for what is to be hashed with them.
const PREFIX = 32;
const VERSION = 2;
const END = 0;
const IDENTIFIER = 2;
const SPACE = 0x20;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const SIGNATURE = 6;
// A length in the shortest form has at most two bytes below this.
const LONGEST = 1 << 14;

/**
 * A macaroon in the form that nearly all tokens have, as it lies in memory: base64url without padding of v2
 * binary, with first-party caveats, without locations or discharges. Reading and verifying it makes no object for
 * its parts. The memory is used again by the next {@link CompactMacaroon.read}.
 */
export class CompactMacaroon {
  readonly bytes: Uint8Array;
  readonly #memory: Uint8Array;
  /** How many caveats it has. */
  caveats = 0;
  /** Its bytes. */
  length = 0;
  /** What the caller found of each part, for itself: 0 after a reading. */
  readonly marks: Uint8Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /**
   * Eight words for each tag: of the identifier, then after each caveat. Secret: the reader of one can strip every
   * caveat after it.
   */
  readonly tags: Int32Array;

  /** Room for whatever is within `limits`. */
  constructor(limits: MacaroonLimits) {
    this.#memory = new Uint8Array(PREFIX + limits.bytes);
    this.bytes = this.#memory.subarray(PREFIX);
    this.tags = new Int32Array(WORDS * (limits.caveats + 1));
    this.marks = new Uint8Array(limits.caveats + 1);
    this.#starts = new Int32Array(limits.caveats + 1);
    this.#ends = new Int32Array(limits.caveats + 1);
  }

  /**
   * Reads a text, without judging what any part says.
   *
   * @param limits - Not above those that this was made with.
   * @returns `false` for whatever has another form, is malformed or exceeds a limit: `readMacaroons` reads all
   *   forms, and says what is wrong.
   */
  read(text: string, limits: MacaroonLimits): boolean {
    const { bytes } = this;
    const length = decodeBase64urlInto(text, bytes);
    if (length < 0 || length > limits.bytes) return false;
    this.length = length;
    this.caveats = 0;
    if (length < 1 || bytes[0] !== VERSION) return false;
    let at = this.#section(1, 0, limits.identifierBytes);
    while (at > 0 && at < length && bytes[at] !== END) {
      if (this.caveats >= limits.caveats) return false;
      this.caveats++;
      at = this.#section(at, this.caveats, limits.caveatBytes);
    }
    if (at < 0 || at + 3 + TAG_LENGTH !== length) return false;
    return bytes[at + 1] === SIGNATURE && bytes[at + 2] === TAG_LENGTH;
  }

  /** Where a part starts: 0 is the identifier, and k the k-th caveat. */
  start(part: number): number {
    return this.#starts[part] ?? 0;
  }

  /** Where a part ends. */
  end(part: number): number {
    return this.#ends[part] ?? 0;
  }

  /** The bytes of a part, which lie in this memory. */
  part(part: number): Uint8Array {
    return this.bytes.subarray(this.start(part), this.end(part));
  }

  /**
   * The caveats from the `first` on as the text of a JSON array, where each of them is plain JSON. What stands between
   * them is written over: only {@link CompactMacaroon.append} is of use afterwards.
   */
  jsonFrom(first: number): string {
    const { bytes, caveats } = this;
    const [start, end] = [this.start(first) - 1, this.end(caveats)];
    for (let part = first; part < caveats; part++) {
      const next = this.start(part + 1);
      let at = this.end(part);
      bytes[at++] = COMMA;
      while (at < next) bytes[at++] = SPACE;
    }
    bytes[start] = OPENING_BRACKET;
    bytes[end] = CLOSING_BRACKET;
    const text = asciiText(bytes.subarray(start, end + 1));
    bytes[end] = END;
    return text;
  }

  /** A view of `prefix`, which has 32 bytes, and the identifier and first `caveats` caveats as they were received. */
  behind(prefix: Uint8Array, caveats: number): Uint8Array {
    this.#memory.set(prefix);
    return this.#memory.subarray(0, PREFIX + this.#endOf(caveats));
  }

  /** Computes every tag from a root key on. */
  begin(key: RootKey): void {
    key.tagInto(this.tags, this.bytes, this.start(0), this.end(0));
    this.#advance(0);
  }

  /** Computes the tags after the first `caveats`, whose last tag is the eight words of `tags` from `at`. */
  resume(tags: Words, at: number, caveats: number): void {
    for (let i = 0; i < WORDS; i++) this.tags[WORDS * caveats + i] = tags[at + i] as number;
    this.#advance(caveats);
  }

  /** Whether the last tag that was computed is the signature; in the same time whatever they are. */
  get isAuthentic(): boolean {
    const signature = this.length - TAG_LENGTH;
    const last = WORDS * this.caveats;
    let difference = 0;
    for (let i = 0; i < WORDS; i++) {
      difference |= (this.tags[last + i] as number) ^ wordAt(this.bytes, signature + 4 * i);
    }
    return difference === 0;
  }

  /** A copy of the last two tags, or of the only one. */
  lastTags(): number[] {
    const words: number[] = [];
    const first = WORDS * Math.max(0, this.caveats - 1);
    for (let at = first; at < WORDS * (this.caveats + 1); at++) words.push(this.tags[at] as number);
    return words;
  }

  /**
   * Holds a caveat that is to be appended to the limits.
   *
   * @throws TokenError `too_many_caveats`, `caveat_too_large` or `too_large`.
   */
  assertRoom(caveat: number, limits: MacaroonLimits): void {
    if (this.caveats >= limits.caveats) throw tooManyCaveats(limits.caveats);
    if (caveat > limits.caveatBytes) throw caveatTooLarge(caveat, limits.caveatBytes);
    const length = this.length + 1 + varintLength(caveat) + caveat + 1;
    if (length > limits.bytes) throw tooLarge(length, limits.bytes);
  }

  /**
   * Appends a first-party caveat, for which there must be room: one HMAC, no key.
   *
   * @param text - What was read.
   * @returns The macaroon's text with it.
   */
  append(text: string, caveat: Uint8Array): string {
    const { bytes, tags } = this;
    const end = this.#endOf(this.caveats);
    const signature = this.length - TAG_LENGTH;
    for (let i = 0; i < WORDS; i++) {
      tags[WORDS * this.caveats + i] = wordAt(bytes, signature + 4 * i);
    }
    bytes[end] = IDENTIFIER;
    const start = writeVarint(bytes, end + 1, caveat.length);
    bytes.set(caveat, start);
    const after = start + caveat.length;
    this.caveats++;
    this.#starts[this.caveats] = start;
    this.#ends[this.caveats] = after;
    this.#advance(this.caveats - 1);
    bytes.set([END, END, SIGNATURE, TAG_LENGTH], after);
    bytesOf(tags, WORDS * this.caveats, bytes.subarray(after + 4));
    this.length = after + 4 + TAG_LENGTH;
    // Three bytes are four characters: what stands before the caveat is written already.
    const whole = Math.floor(end / 3);
    return text.slice(0, 4 * whole) + encodeBase64url(bytes.subarray(3 * whole, this.length));
  }

  /** Where the first `caveats` caveats end; what comes before is the same in whatever descends from them. */
  #endOf(caveats: number): number {
    return this.end(caveats) + 1;
  }

  #advance(caveats: number): void {
    for (let at = caveats + 1; at <= this.caveats; at++) {
      nextTagInto(this.tags, WORDS * (at - 1), this.bytes, this.start(at), this.end(at));
    }
    wipe();
  }

  /** Reads a section of one field; returns where the next starts, or -1. */
  #section(at: number, part: number, most: number): number {
    const { bytes } = this;
    if (bytes[at] !== IDENTIFIER) return -1;
    const low = bytes[at + 1] as number;
    const high = low < 0x80 ? 0 : (bytes[at + 2] as number);
    const size = low < 0x80 ? low : (low & 0x7f) | (high << 7);
    const start = at + (low < 0x80 ? 2 : 3);
    const end = start + size;
    if (size < 1 || size > most || size >= LONGEST) return -1;
    if (low >= 0x80 && (high === 0 || high >= 0x80)) return -1;
    if (end >= this.length || bytes[end] !== END) return -1;
    this.marks[part] = 0;
    this.#starts[part] = start;
    this.#ends[part] = end;
    return end + 1;
  }
}
