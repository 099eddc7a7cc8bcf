import type { ServerResponse } from "node:http";
import { whenClosed } from "../../../http/when-closed.js";
import { overLimit } from "./held-bytes.js";

/** Limits of the output that HTTP clients have not read. Such output stays in memory. */
export interface UnreadLimits {
  /** Maximum number of unread bytes of all HTTP clients together; 64 MiB unless given. */
  readonly unread?: number | undefined;
  /** Milliseconds without traffic after which the gate closes the connection of a response; 30,000 unless given. */
  readonly stall?: number | undefined;
}

const BYTES = 64 * 1024 * 1024;
const STALL = 30_000;

/** The HTTP responses that clients have not read to the end. A client that reads too slowly is disconnected. */
export class Unread {
  readonly #bytes: number;
  readonly #stall: number;
  /** The caller of each response. */
  readonly #answers = new Map<ServerResponse, string>();

  constructor({ unread = BYTES, stall = STALL }: UnreadLimits) {
    this.#bytes = unread;
    this.#stall = stall;
  }

  /** Counts the unread bytes of a response until it is closed. Closes its connection if no data flows for too long. */
  add(res: ServerResponse, caller: string): void {
    this.#answers.set(res, caller);
    whenClosed(res, () => this.#answers.delete(res));
    // Sent bytes restart the timeout. An idle event stream sends comments at shorter intervals.
    res.setTimeout(this.#stall, () => res.destroy());
  }

  /**
   * Disconnects responses of the callers with the most unread bytes, until all other responses are within the limit.
   * Call this after each write.
   */
  enforce(): void {
    const unread = [...this.#answers].map(([res, caller]) => {
      return { res, caller, bytes: res.writableLength };
    });
    for (const { res } of overLimit(unread, this.#bytes)) {
      this.#answers.delete(res);
      res.destroy();
    }
  }
}
