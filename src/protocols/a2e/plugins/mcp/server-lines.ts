// Reads the lines of a server of MCP, with a bound on what is held. An answer over the bound is known by the two ends
// of its line, so that the server goes on and the caller gets an error.

/** A line, or the id of the request that a line over the limit answers. */
export type ServerLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "too_large"; readonly id: string | number };

/** A line over the limit that cannot be read as an answer, so that some request would wait for ever. */
export class UnreadableLineError extends Error {
  override readonly name = "UnreadableLineError";
}

const LINE_FEED = 0x0a;
/** Bytes at each end of a line over the limit. */
const END = 256;
const ID = String.raw`"id"\s*:\s*(\d{1,15}|"[^"\\]{0,100}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
/** Members before the result: version and id, in any order. */
const HEAD = new RegExp(
  String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(?:result|error)"\s*:`,
);
/** Members behind it. What closes the line closes its object, so that no id within the result is taken for its own. */
const TAIL = new RegExp(String.raw`,\s*(?:${VERSION}\s*,\s*)?${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/** Cuts a server's output into lines, and holds no line of more bytes than its limit. */
export class ServerLines {
  readonly #limit: number;
  #held: Buffer[] = [];
  #size = 0;
  /** The ends of a line that is over the limit. */
  #ends: { readonly head: Buffer; tail: Buffer } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that end in these bytes. @throws UnreadableLineError */
  *cut(bytes: Buffer): Generator<ServerLine, void, void> {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      this.#hold(bytes.subarray(start, end));
      start = end + 1;
      yield this.#line();
    }
    this.#hold(bytes.subarray(start));
  }

  #hold(part: Buffer): void {
    this.#size += part.length;
    if (this.#ends !== undefined) {
      this.#ends.tail = Buffer.concat([this.#ends.tail, part.subarray(-END)]).subarray(-END);
      return;
    }
    this.#held.push(part);
    if (this.#size <= this.#limit) return;
    const all = Buffer.concat(this.#held);
    this.#held = [];
    this.#ends = {
      head: Buffer.from(all.subarray(0, END)),
      tail: Buffer.from(all.subarray(-END)),
    };
  }

  #line(): ServerLine {
    const [held, ends] = [this.#held, this.#ends];
    this.#held = [];
    this.#ends = undefined;
    this.#size = 0;
    if (ends === undefined) return { kind: "line", text: Buffer.concat(held).toString("utf8") };
    const head = HEAD.exec(ends.head.toString("latin1"));
    const id = head?.[1] ?? TAIL.exec(ends.tail.toString("latin1"))?.[1];
    if (head === null || id === undefined) throw new UnreadableLineError("a line is too large");
    return { kind: "too_large", id: JSON.parse(id) };
  }
}
