import type { ServerResponse } from "node:http";
import { EventStream } from "./event-stream.js";

/** Messages kept for a host that has opened no stream yet. */
const MOST_WAITING = 100;
/** Characters of them together. */
const MOST_TEXT = 1024 * 1024;

/** The way to a host of the old era for what belongs to none of its requests: the stream that it opens with GET. */
export class HostStream {
  #stream: EventStream | undefined;
  #waiting: string[] = [];

  get isOpen(): boolean {
    return this.#stream?.isOpen === true;
  }

  /** Answers a GET with the stream, in place of an earlier one, and sends what has waited. */
  async open(res: ServerResponse): Promise<void> {
    this.#stream?.end();
    const stream = new EventStream(res);
    this.#stream = stream;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const text of waiting) await stream.write(text);
  }

  /** Sends a message, or keeps it until the host opens a stream; the oldest are dropped over the limit. */
  async send(text: string): Promise<void> {
    if (this.#stream?.isOpen) return this.#stream.write(text);
    this.#waiting.push(text);
    const size = (): number => this.#waiting.reduce((sum, one) => sum + one.length, 0);
    while (this.#waiting.length > MOST_WAITING || size() > MOST_TEXT) this.#waiting.shift();
  }

  end(): void {
    this.#stream?.end();
  }
}
