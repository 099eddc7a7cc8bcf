import type { Duplex } from "node:stream";
import { isDeeperThan, type JsonObject } from "../../bytes/json.js";
import { LineSplitter } from "../../bytes/line-splitter.js";
import { type Dialect, versionOf } from "./dialect.js";
import type { SessionFault } from "./errors.js";
import { hasWholePairs, type LineLimits, readLine } from "./lines.js";
import { errorMessage } from "./messages.js";
import type { Timers } from "./timers.js";

/** Limits on the data that a host or a client stores for its peer, and on the time that it waits for the peer. */
export interface ConnectionLimits extends LineLimits {
  /**
   * Maximum number of sent bytes that the peer has not read; 2 MiB unless given. A peer that leaves more unread is
   * disconnected.
   */
  readonly queue: number;
  /** Maximum number of milliseconds from the first byte of a line to the last; 10,000 unless given. */
  readonly lineTime: number;
  /**
   * Milliseconds for which sent bytes may wait for a peer to read them; 10,000 unless given. A slower peer is
   * disconnected.
   */
  readonly stall: number;
}

/** The code of a fault in received bytes. */
export type LineProblem = "line_malformed" | "line_too_large" | "line_timeout";

/** Receives the messages of a connection, and the faults in received bytes. */
interface Receiver {
  /**
   * True to report a number as a problem if a double cannot hold it exactly. A host needs this, because it judges
   * arguments.
   */
  readonly exact: boolean;
  message(message: JsonObject): void;
  /** Called with a fault in received bytes. After `line_too_large` and `line_timeout`, nothing more is read. */
  problem(code: LineProblem, text: string): void;
}

/** Milliseconds that the peer has to close its end after this end was closed. */
const LINGER = 1000;

/** The reason why a message cannot be sent: the peer would refuse the line. */
type Unsendable = "too_large" | "malformed";

/** Sends and receives messages over a stream, one JSON object per line, within {@link ConnectionLimits}. */
export class Connection {
  readonly #stream: Duplex;
  readonly #limits: ConnectionLimits;
  readonly #timers: Timers;
  readonly #waiting = new Set<() => void>();
  #stallOff: (() => void) | undefined;
  #stopped = false;

  constructor(stream: Duplex, limits: ConnectionLimits, timers: Timers) {
    this.#stream = stream;
    this.#limits = limits;
    this.#timers = timers;
    // A broken stream ends `read`. Without a listener, the "error" event of the stream would end the process.
    stream.on("error", () => {});
    stream.on("drain", () => this.#drained());
    stream.on("close", () => {
      this.#stopped = true;
      this.#drained();
    });
  }

  /** True once nothing more can be sent. */
  get isOver(): boolean {
    return this.#stream.destroyed || this.#stream.writableEnded;
  }

  /**
   * Passes received messages and faults to the receiver. Resolves when the peer has finished sending, or when the
   * stream is closed.
   */
  async read(receiver: Receiver): Promise<void> {
    const splitter = new LineSplitter(this.#limits.line);
    let lineOff: (() => void) | undefined;
    const lineDone = (): void => {
      lineOff?.();
      lineOff = undefined;
    };
    const stop = (code: LineProblem, text: string): void => {
      if (this.#stopped) return;
      this.#stopped = true;
      receiver.problem(code, text);
    };
    const tooSlow = (): void => {
      const seconds = this.#limits.lineTime / 1000;
      stop("line_timeout", `a line took more than ${seconds} seconds to come`);
    };
    const tooLarge = (): void =>
      stop("line_too_large", `a line has more than ${this.#limits.line} bytes`);
    try {
      for await (const chunk of this.#chunks()) {
        if (!(chunk instanceof Uint8Array))
          throw new TypeError("a stream of bytes has no encoding");
        // Once stopped, read and discard all bytes: closing a stream with unread bytes could lose the last lines that
        // this end has sent.
        if (this.#stopped) continue;
        for (const line of splitter.split(chunk)) {
          lineDone();
          // Read nothing more while the peer does not read its answers.
          await this.ready();
          if (line.kind === "too_large") tooLarge();
          if (this.#stopped) break;
          if (line.kind === "line") this.#take(line.bytes, receiver);
        }
        if (splitter.isTooLarge) tooLarge();
        if (this.#stopped || !splitter.isOpen) lineDone();
        else lineOff ??= this.#timers.after(this.#limits.lineTime, tooSlow);
      }
      if (splitter.isOpen) stop("line_malformed", "the stream ends within a line");
    } finally {
      lineDone();
    }
  }

  /** Yields bytes until the stream ends or breaks. Rethrows errors that are not the stream's own. */
  async *#chunks(): AsyncGenerator<unknown, void> {
    try {
      yield* this.#stream.iterator({ destroyOnReturn: false });
    } catch (error) {
      if (!isOfStream(error)) throw error;
    }
  }

  #take(line: Uint8Array, receiver: Receiver): void {
    const reading = readLine(line, this.#limits.depth, receiver.exact);
    if (reading.ok) receiver.message(reading.message);
    else receiver.problem("line_malformed", reading.problem);
  }

  /**
   * Sends a message, unless the stream is closed. Disconnects a peer that leaves too many bytes unread.
   *
   * @returns The reason if the message exceeds the limits of a line. The message is then not sent, since the peer would
   *   refuse it.
   */
  send(message: object): Unsendable | undefined {
    if (this.isOver) return undefined;
    const line = lineOf(message, this.#limits);
    if (typeof line === "string") return line;
    if (this.#stream.writableLength + line.length > this.#limits.queue) this.cut();
    else if (!this.#stream.write(line)) {
      this.#stallOff ??= this.#timers.after(this.#limits.stall, () => this.cut());
    }
    return undefined;
  }

  /** Resolves when the peer has read enough of the waiting bytes, or when the stream is closed. */
  ready(): Promise<void> {
    if (this.isOver || !this.#stream.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Stops reading, and closes the stream once everything has been sent. */
  async end(): Promise<void> {
    this.#stopped = true;
    if (this.#stream.destroyed) return;
    const stallOff = this.#timers.after(this.#limits.stall, () => this.cut());
    await new Promise<void>((resolve) => {
      this.#stream.once("close", resolve);
      this.#stream.end(resolve);
    });
    stallOff();
    if (!this.#stream.readableEnded && !this.#stream.destroyed) {
      const lingerOff = this.#timers.after(LINGER, () => this.cut());
      await new Promise<void>((resolve) => {
        this.#stream.once("end", resolve);
        this.#stream.once("close", resolve);
      });
      lingerOff();
    }
    this.cut();
  }

  /** Closes the stream at once. */
  cut(): void {
    this.#stopped = true;
    this.#stream.destroy();
  }

  #drained(): void {
    this.#stallOff?.();
    this.#stallOff = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }
}

/** Returns whether an error comes from the stream: the peer has disconnected, or this end has closed the stream. */
function isOfStream(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}

/** Formats a message as a line. Returns the reason instead if the line would exceed the limits. */
function lineOf(message: object, { line, depth }: LineLimits): Buffer | Unsendable {
  let text: string;
  try {
    text = JSON.stringify(message);
  } catch {
    return "malformed";
  }
  const bytes = Buffer.from(`${text}\n`);
  if (bytes.length - 1 > line) return "too_large";
  if (isDeeperThan(message, depth)) return "malformed";
  if (text.includes("\\ud") && !hasWholePairs(JSON.parse(text))) return "malformed";
  return bytes;
}

/** Sends messages, adding version, id and time. */
export class Outlet {
  readonly #connection: Pick<Connection, "send">;
  readonly #clock: () => number;
  readonly #prefix: string;
  #dialect: Dialect = "own";
  #sent = 0;

  /** @param prefix - The first characters of all message ids. Host and client use different prefixes. */
  constructor(connection: Pick<Connection, "send">, clock: () => number, prefix: string) {
    this.#connection = connection;
    this.#clock = clock;
    this.#prefix = prefix;
  }

  /** Selects the dialect in which the version is written. */
  speak(dialect: Dialect): void {
    this.#dialect = dialect;
  }

  /** Returns a new message id. */
  nextId(): string {
    return `${this.#prefix}${++this.#sent}`;
  }

  /** @returns The reason if the message was not sent. */
  send({ type, id = this.nextId(), ...message }: JsonObject): Unsendable | undefined {
    const ts = this.#clock() / 1000;
    return this.#connection.send({ ...versionOf(this.#dialect), type, id, ts, ...message });
  }

  /**
   * Sends an error.
   *
   * @param reqId - The id of the faulty message; empty if there is none.
   */
  error(reqId: string, of: SessionFault): void {
    this.send(errorMessage(reqId, of));
  }
}
