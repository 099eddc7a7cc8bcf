import type { Response } from "express";
import { whenClosed } from "../../../http/when-closed.js";
import {
  HEADER_MISMATCH,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  MISSING_CLIENT_CAPABILITY,
  PARSE_ERROR,
  UNSUPPORTED_VERSION,
} from "../message/error-codes.js";
import { type Era, isAnswer } from "../message/message.js";
import { EventStream } from "./event-stream.js";
import type { Unread } from "./unread.js";

/** Milliseconds after which an unanswered request gets an event stream, so that no proxy closes the idle connection. */
const LATE = 5000;

/** HTTP status for each JSON-RPC error code in the new era (2026-07-28, "Error Codes"); 200 for any other code. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  [PARSE_ERROR, 400],
  [INVALID_REQUEST, 400],
  [METHOD_NOT_FOUND, 404],
  [HEADER_MISMATCH, 400],
  [MISSING_CLIENT_CAPABILITY, 400],
  [UNSUPPORTED_VERSION, 400],
]);

/**
 * The HTTP response to a POST with a JSON-RPC request. It is JSON if the JSON-RPC response is the only message and
 * comes within 5 seconds, else an event stream.
 */
export class HttpAnswer {
  readonly #res: Response;
  readonly #era: Era;
  readonly #unread: Unread;
  readonly #onResponse: (isError: boolean) => void;
  readonly #gone = new AbortController();
  readonly #late: NodeJS.Timeout;
  #stream: EventStream | undefined;
  #isAnswered = false;

  /**
   * @param onResponse - Called before the JSON-RPC response is sent. The function may still set HTTP headers if no
   *   event has been sent.
   */
  constructor(
    res: Response,
    era: Era,
    unread: Unread,
    onResponse: (isError: boolean) => void = () => {},
  ) {
    this.#res = res;
    this.#era = era;
    this.#unread = unread;
    this.#onResponse = onResponse;
    this.#late = setTimeout(() => this.#open(), LATE).unref();
    whenClosed(res, () => {
      clearTimeout(this.#late);
      this.#gone.abort();
    });
  }

  /** Aborted when the HTTP response is closed: it is complete, or the HTTP client has disconnected. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Sends a message. Does nothing after the JSON-RPC response has been sent. In the old era, waits until the HTTP
   * client can take another message, so that the gate reads the session's servers no faster than the client reads. In
   * the new era it does not wait, because all HTTP clients share the servers.
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

  /** Ends the HTTP response without a JSON-RPC response, for example a subscription when the gate closes. */
  cut(): void {
    this.#isAnswered = true;
    this.#open().end();
  }

  #open(): EventStream {
    this.#stream ??= new EventStream(this.#res, this.#unread);
    return this.#stream;
  }
}
