/** A line without its line feed, or the two ends of a line over the limit. */
export type SplitLine = { readonly kind: "line"; readonly bytes: Uint8Array } | OversizedLine;

/** The two ends of a line over the limit, each of at most 256 bytes. */
export interface OversizedLine {
  readonly kind: "too_large";
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
}

const LINE_FEED = 0x0a;
const FIRST_ROOM = 1024;
/** Bytes kept at each end of a line over the limit. */
const END = 256;

/**
 * Splits a stream of bytes into lines. Never holds more bytes than one line may have, because it keeps only the two
 * ends of a longer line.
 */
export class LineSplitter {
  readonly #limit: number;
  /** The beginning of an unfinished line; grows by doubling, so that appending single bytes is cheap. */
  #held: Uint8Array = new Uint8Array(0);
  #size = 0;
  /** The two ends of an unfinished line over the limit. */
  #ends: { readonly head: Uint8Array; tail: Uint8Array } | undefined;

  /** @param limit - Longest line in bytes, without its line feed. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True if a line has begun and has not ended. */
  get isOpen(): boolean {
    return this.#size > 0 || this.#ends !== undefined;
  }

  /** True if the line that has begun is already over the limit. */
  get isTooLarge(): boolean {
    return this.#ends !== undefined;
  }

  /** Yields the lines that end in `bytes`. A line may share memory with `bytes`. */
  *split(bytes: Uint8Array): Generator<SplitLine, void, void> {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      const part = bytes.subarray(start, end);
      start = end + 1;
      if (!this.isOpen && part.length <= this.#limit) {
        yield { kind: "line", bytes: part };
      } else {
        this.#hold(part);
        yield this.#take();
      }
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
  }

  /** Returns the bytes after the last line feed; `undefined` if there are none. Call it once the stream has ended. */
  rest(): SplitLine | undefined {
    return this.isOpen ? this.#take() : undefined;
  }

  #hold(part: Uint8Array): void {
    if (this.#ends !== undefined) {
      this.#ends.tail = lastOf(this.#ends.tail, part);
      return;
    }
    const size = this.#size + part.length;
    if (size > this.#limit) {
      const begun = this.#held.subarray(0, this.#size);
      const head = joined(begun.subarray(0, END), part.subarray(0, END)).slice(0, END);
      this.#ends = { head, tail: lastOf(begun, part) };
      this.#held = new Uint8Array(0);
      this.#size = 0;
      return;
    }
    if (size > this.#held.length) {
      const room = Math.min(Math.max(size, this.#held.length * 2, FIRST_ROOM), this.#limit);
      const grown = new Uint8Array(room);
      grown.set(this.#held.subarray(0, this.#size));
      this.#held = grown;
    }
    this.#held.set(part, this.#size);
    this.#size = size;
  }

  #take(): SplitLine {
    const [held, size, ends] = [this.#held, this.#size, this.#ends];
    this.#held = new Uint8Array(0);
    this.#size = 0;
    this.#ends = undefined;
    if (ends !== undefined) return { kind: "too_large", head: ends.head, tail: ends.tail };
    return { kind: "line", bytes: held.subarray(0, size) };
  }
}

/**
 * Yields the lines of a stream, and at its end the bytes after the last line feed.
 *
 * @param limit - Longest line in bytes, without its line feed.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<SplitLine, void, void> {
  const splitter = new LineSplitter(limit);
  for await (const chunk of chunks) yield* splitter.split(chunk);
  const rest = splitter.rest();
  if (rest !== undefined) yield rest;
}

/** Returns a copy of the last bytes of `before` followed by `after`. */
function lastOf(before: Uint8Array, after: Uint8Array): Uint8Array {
  return joined(before.subarray(-END), after.subarray(-END)).slice(-END);
}

function joined(before: Uint8Array, after: Uint8Array): Uint8Array {
  const all = new Uint8Array(before.length + after.length);
  all.set(before);
  all.set(after, before.length);
  return all;
}
