import type { EventStream } from "./event-stream.js";

/** Messages kept for a host that has opened no stream yet. */
const MOST_WAITING = 100;
/** Characters of all these messages together. */
const MOST_TEXT = 1024 * 1024;

/** The stream that a host of the old era opens with GET, for messages that belong to none of its requests. */
export class HostStream {
  #stream: EventStream | undefined;
  readonly #waiting: string[] = [];

  get isOpen(): boolean {
    return this.#stream?.isOpen === true;
  }

  /** Uses a stream in place of an earlier stream, and sends the messages that have waited. */
  open(stream: EventStream): void {
    this.#stream?.end();
    this.#stream = stream;
    for (const text of this.#waiting.splice(0)) stream.write(text);
  }

  /** Sends a message, or keeps it until the host opens a stream; the oldest are dropped over the limit. */
  async send(text: string): Promise<void> {
    if (this.#stream?.isOpen) {
      this.#stream.write(text);
      return this.#stream.room();
    }
    this.#waiting.push(text);
    const size = (): number => this.#waiting.reduce((sum, one) => sum + one.length, 0);
    while (this.#waiting.length > MOST_WAITING || size() > MOST_TEXT) this.#waiting.shift();
  }

  end(): void {
    this.#stream?.end();
  }
}
