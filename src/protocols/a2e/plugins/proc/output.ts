/** A part of a program's output. */
export interface OutputPart {
  readonly text: string;
  /**
   * The offset of the first byte of the part, in bytes of output since the program started. It is higher than the
   * requested offset if output was lost.
   */
  readonly offset: number;
  /** The offset of the first byte after the part. */
  readonly next: number;
  /** Number of bytes between the requested offset and `offset`. Newer output has overwritten these bytes. */
  readonly lost: number;
}

/** A ring buffer of a program's latest output. Offsets count the bytes of output since the program started. */
export class Output {
  readonly #ring: Uint8Array;
  #end = 0;

  constructor(bytes: number) {
    this.#ring = new Uint8Array(bytes);
  }

  /** The offset after the last byte. */
  get end(): number {
    return this.#end;
  }

  write(bytes: Uint8Array): void {
    const size = this.#ring.length;
    const kept = bytes.subarray(Math.max(0, bytes.length - size));
    const at = (this.#end + bytes.length - kept.length) % size;
    const first = kept.subarray(0, size - at);
    this.#ring.set(first, at);
    this.#ring.set(kept.subarray(first.length), 0);
    this.#end += bytes.length;
  }

  /**
   * Returns a part of the output as a string. Unless `from` is within a UTF-8 character, the part neither begins nor
   * ends within one.
   *
   * @param most - Maximum number of bytes to return, at least 4.
   * @param over - True if the program will write nothing more.
   */
  read(from: number, most: number, over: boolean): OutputPart {
    const size = this.#ring.length;
    const asked = Math.min(from, this.#end);
    let offset = Math.max(asked, this.#end - size);
    const bytes = this.#slice(offset, Math.min(this.#end, offset + most));
    const skipped = offset > asked ? continuations(bytes) : 0;
    offset += skipped;
    const whole = bytes.subarray(skipped);
    const last = over && offset + whole.length === this.#end;
    const cut = last ? whole : whole.subarray(0, whole.length - unfinished(whole));
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(cut);
    return { text, offset, next: offset + cut.length, lost: offset - asked };
  }

  #slice(from: number, to: number): Uint8Array {
    const size = this.#ring.length;
    const bytes = new Uint8Array(to - from);
    const at = from % size;
    const first = this.#ring.subarray(at, Math.min(size, at + bytes.length));
    bytes.set(first);
    bytes.set(this.#ring.subarray(0, bytes.length - first.length), first.length);
    return bytes;
  }
}

/** Counts the bytes at the beginning that continue an earlier UTF-8 character. */
function continuations(bytes: Uint8Array): number {
  const at = bytes.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return at === -1 ? Math.min(3, bytes.length) : at;
}

/** Counts the bytes at the end that begin an incomplete UTF-8 character. */
function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return byte < 0xf8 && length > back ? back : 0;
  }
  return 0;
}
