// Reads the lines of an MCP server with a limit on memory. An answer over the limit is recognized by both ends
// of its line, so that the server continues and the caller gets an error.

/** A line, or the id of the request whose answer is over the limit. */
export type ServerLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "too_large"; readonly id: string | number };

/** A line over the limit that is not recognized as an answer; some request would wait for ever. */
export class UnreadableLineError extends Error {
  override readonly name = "UnreadableLineError";
}

const LINE_FEED = 0x0a;
/** Bytes kept at each end of a line over the limit. */
const END = 256;
const ID = String.raw`"id"\s*:\s*(\d{1,15}|"[^"\\]{0,100}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
/** Matches the properties before the result: version and id, in any order. */
const HEAD = new RegExp(
  String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(?:result|error)"\s*:`,
);
/**
 * Matches the properties after the result. The end of the line must close the object, so that an id within the
 * result is not taken for the id of the response.
 */
const TAIL = new RegExp(String.raw`,\s*(?:${VERSION}\s*,\s*)?${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/** Splits a server's output into lines, without holding a line over its limit. */
export class ServerLines {
  readonly #limit: number;
  #held: Buffer[] = [];
  #size = 0;
  /** The two ends of a line over the limit. */
  #ends: { readonly head: Buffer; tail: Buffer } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the lines that end in these bytes. @throws UnreadableLineError */
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
