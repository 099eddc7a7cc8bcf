import type { ServerResponse } from "node:http";

/** Limits of what callers leave unread. */
export interface UnreadLimits {
  /** Bytes of all callers together; 64 MiB unless given. */
  readonly unread?: number | undefined;
  /** Milliseconds in which a caller must take something of what waits for it; 30,000 unless given. */
  readonly stall?: number | undefined;
}

const BYTES = 64 * 1024 * 1024;
const STALL = 30_000;

/**
 * The answers that callers have not read to the end. They are kept in memory, so a caller that reads too slowly is
 * cut off.
 */
export class Unread {
  readonly #bytes: number;
  readonly #stall: number;
  readonly #answers = new Set<ServerResponse>();

  constructor({ unread = BYTES, stall = STALL }: UnreadLimits) {
    this.#bytes = unread;
    this.#stall = stall;
  }

  /** Counts an answer until its connection has taken it, and cuts it off if that stops for too long. */
  add(res: ServerResponse): void {
    if (res.destroyed) return;
    this.#answers.add(res);
    res.once("close", () => this.#answers.delete(res));
    // Bytes that leave start the time anew. A stream that waits for messages sends comments more often than this.
    res.setTimeout(this.#stall, () => res.destroy());
  }

  /** Cuts off the callers with the most unread bytes until all others are within the limit. Call it after a write. */
  enforce(): void {
    const answers = [...this.#answers].sort((a, b) => b.writableLength - a.writableLength);
    let bytes = answers.reduce((sum, { writableLength }) => sum + writableLength, 0);
    for (const res of answers) {
      if (bytes <= this.#bytes) return;
      bytes -= res.writableLength;
      this.#answers.delete(res);
      res.destroy();
    }
  }
}
