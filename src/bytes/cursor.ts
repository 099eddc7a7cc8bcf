import { TokenError } from "./token-error.js";

/** Reads a byte string from front to back. Reading past the end throws a TokenError `truncated` with the offset. */
export class Cursor {
  readonly bytes: Uint8Array;
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
  }

  get done(): boolean {
    return this.offset >= this.bytes.length;
  }

  /** Returns the next byte without consuming it; `undefined` at the end. */
  peek(): number | undefined {
    return this.bytes[this.offset];
  }

  byte(what: string): number {
    const value = this.bytes[this.offset];
    if (value === undefined) throw this.#truncated(what);
    this.offset++;
    return value;
  }

  /** Returns a view of the next `length` bytes, which shares memory with the input. */
  take(length: number, what: string): Uint8Array {
    const end = this.offset + length;
    if (end > this.bytes.length) throw this.#truncated(what);
    const view = this.bytes.subarray(this.offset, end);
    this.offset = end;
    return view;
  }

  /**
   * Reads an unsigned LEB128 number of at most 28 bits, which must be in its shortest form.
   *
   * @throws TokenError `varint_overlong` or `varint_range`.
   */
  varint(what: string): number {
    const start = this.offset;
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte(what);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (byte === 0 && shift > 0) {
          const message = `the length of ${what} is written longer than needed (at ${start})`;
          throw new TokenError("varint_overlong", message, start);
        }
        return value;
      }
    }
    throw new TokenError(
      "varint_range",
      `the length of ${what} is out of range (at ${start})`,
      start,
    );
  }

  #truncated(what: string): TokenError {
    const message = `the token ends inside ${what} (at ${this.bytes.length})`;
    return new TokenError("truncated", message, this.bytes.length);
  }
}

/** Returns the number of bytes that {@link writeVarint} uses for `value`. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) length++;
  return length;
}

/** Writes `value` as LEB128 at `at` and returns the offset after it. */
export function writeVarint(out: Uint8Array, at: number, value: number): number {
  let rest = value;
  let offset = at;
  while (rest >= 0x80) {
    out[offset++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  out[offset++] = rest;
  return offset;
}
