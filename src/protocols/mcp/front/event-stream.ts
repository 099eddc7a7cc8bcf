import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { whenClosed } from "../../../http/when-closed.js";
import { onOneLine } from "../message/message.js";
import type { Unread } from "./unread.js";

/** Milliseconds between the SSE comments that keep an idle stream open. */
const KEEP_ALIVE = 15_000;

/** An HTTP response that sends each message as a server-sent event. */
export class EventStream {
  readonly #res: ServerResponse;
  readonly #unread: Unread;

  /** Sends the status and the headers of the response. */
  constructor(res: ServerResponse, unread: Unread) {
    this.#res = res;
    this.#unread = unread;
    res.writeHead(200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      // Without this header, proxies such as nginx buffer events.
      "X-Accel-Buffering": "no",
    });
    res.flushHeaders();
    const alive = setInterval(() => {
      if (!res.writableNeedDrain) res.write(":\n\n");
    }, KEEP_ALIVE).unref();
    whenClosed(res, () => clearInterval(alive));
  }

  get isOpen(): boolean {
    return !this.#res.writableEnded && !this.#res.destroyed;
  }

  /** Sends a message, or drops it if the HTTP client has disconnected. */
  write(text: string): void {
    if (!this.isOpen) return;
    // A buffer, because `writableLength` counts the characters of a string, not its bytes.
    if (!this.#res.write(Buffer.from(`data: ${onOneLine(text)}\n\n`))) this.#unread.enforce();
  }

  /** Waits until the HTTP client can take another message, or has disconnected. */
  async room(): Promise<void> {
    if (!this.isOpen || !this.#res.writableNeedDrain) return;
    const stop = new AbortController();
    // A broken connection also emits `close`.
    const events = ["drain", "close"].map((event) => once(this.#res, event, stop));
    await Promise.race(events).catch(() => {});
    stop.abort();
  }

  end(): void {
    if (this.isOpen) this.#res.end();
  }
}
