import type { EventStream } from "./event-stream.js";

/** Maximum number of messages that are kept for a host without an open stream. */
const MOST_WAITING = 100;
/** Maximum length of all kept messages together, in characters. */
const MOST_TEXT = 1024 * 1024;

/** The stream that a host of the old era opens with GET, for messages that belong to none of the host's requests. */
export class HostStream {
  #stream: EventStream | undefined;
  readonly #waiting: string[] = [];

  get isOpen(): boolean {
    return this.#stream?.isOpen === true;
  }

  /** Replaces the open stream, if there is one, and sends the messages that were kept. */
  open(stream: EventStream): void {
    this.#stream?.end();
    this.#stream = stream;
    for (const text of this.#waiting.splice(0)) stream.write(text);
  }

  /** Sends a message, or keeps it until the host opens a stream. Over the limits, drops the oldest kept messages. */
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
