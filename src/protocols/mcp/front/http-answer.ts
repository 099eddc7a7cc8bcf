import type { Response } from "express";
import { isAnswer } from "../message/message.js";
import { HEADER_MISMATCH } from "../message/mirrored-headers.js";
import { EventStream } from "./event-stream.js";
import type { Unread } from "./unread.js";

/** Milliseconds after which a request without an answer gets a stream, so that no proxy takes it for dead. */
const LATE = 5000;

/** HTTP statuses of JSON-RPC errors in the new era (2026-07-28, "Error Codes"); 200 for any other. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  [-32700, 400],
  [-32600, 400],
  [-32601, 404],
  [HEADER_MISMATCH, 400],
  // A client capability that is missing, and a version that is not supported.
  [-32021, 400],
  [-32022, 400],
]);

/** The answer to one POST with a request: JSON if the response is the only message, otherwise events. */
export class HttpAnswer {
  readonly #res: Response;
  readonly #era: "old" | "new";
  readonly #unread: Unread;
  readonly #onResponse: (isError: boolean) => void;
  readonly #gone = new AbortController();
  readonly #late: NodeJS.Timeout;
  #stream: EventStream | undefined;
  #isAnswered = false;

  /** @param onResponse - Called before the response is sent; its headers may still change if no event was sent. */
  constructor(
    res: Response,
    era: "old" | "new",
    unread: Unread,
    onResponse: (isError: boolean) => void = () => {},
  ) {
    this.#res = res;
    this.#era = era;
    this.#unread = unread;
    unread.add(res);
    this.#onResponse = onResponse;
    this.#late = setTimeout(() => this.#open(), LATE).unref();
    res.once("close", () => {
      clearTimeout(this.#late);
      this.#gone.abort();
    });
    if (res.destroyed) this.#gone.abort();
  }

  /** Aborted when the exchange is over: the caller is gone, or has its answer. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Sends a message. Does nothing after the response has been sent. In the old era, waits until the HTTP client can take
   * another message, so that its servers are read no faster. In the new era other callers use the same servers, and must
   * not wait for this one.
   */
  async send(text: string): Promise<void> {
    if (this.#isAnswered || this.#gone.signal.aborted) return;
    if (!isAnswer(text)) {
      this.#open().write(text);
      return this.#era === "old" ? this.#open().room() : undefined;
    }
    this.#isAnswered = true;
    clearTimeout(this.#late);
    const error: unknown = JSON.parse(text).error;
    this.#onResponse(error !== undefined);
    if (this.#stream !== undefined) {
      this.#stream.write(text);
      return this.#stream.end();
    }
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : 0;
    const status = this.#era === "new" ? (STATUSES.get(code) ?? 200) : 200;
    this.#res.writeHead(status, {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
    });
    this.#res.end(Buffer.from(text));
    this.#unread.enforce();
  }

  /** Ends the answer without a response, such as an endless stream while the server closes. */
  cut(): void {
    this.#isAnswered = true;
    this.#open().end();
  }

  #open(): EventStream {
    this.#stream ??= new EventStream(this.#res, this.#unread);
    return this.#stream;
  }
}
