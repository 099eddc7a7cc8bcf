import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject, isObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { edit } from "../message/edit.js";
import { HEADER_MISMATCH } from "../message/error-codes.js";
import { type Era, errorText, SERVER_LIMITS, versionOf } from "../message/message.js";
import { disagreeing, headersOf, headerValue, namedIn } from "../message/mirrored-headers.js";
import {
  type SendContext,
  type ServerConnection,
  type ServerEnd,
  ServerError,
  serverFailure,
  serverTitle,
} from "./connection.js";
import { Endpoint } from "./endpoint.js";
import { ListedTools } from "./listed-tools.js";
import { LONGEST_RETRY, RETRY, readAnswer } from "./read-answer.js";
import { bodyOf, EVENTS, eventsOf, JSON_TYPE, mediaType, unreadable } from "./response-bodies.js";

/** A server over Streamable HTTP. */
export interface HttpServerOptions {
  /** The name of the server in the configuration file; `undefined` for a gate's only server. */
  readonly name?: string | undefined;
  readonly url: URL;
  /** Headers of every request, such as `Authorization`. The gate sends no other credentials. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Longest message of the server, in bytes; 4 MiB unless given. */
  readonly bytes?: number | undefined;
  /** Called with a sentence about a dropped message or a failure. */
  readonly log?: ((line: string) => void) | undefined;
}

const BOTH = `${JSON_TYPE}, ${EVENTS}`;
/** A session id is visible ASCII (2025-11-25, "Session Management"). */
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;
/** Milliseconds that a server has to accept a notification or an answer, and to end its session. */
const ACCEPT = 30_000;
const FAREWELL = 2000;

/** A request of the gate whose answer is being read. */
interface Open {
  readonly id: string | number;
  readonly value: JsonObject;
  readonly era: Era;
  readonly signal: AbortSignal;
  isAnswered: boolean;
}

/** Makes a connection to a server. The gate connects when the first message is sent. */
export function openHttpServer(options: HttpServerOptions): ServerConnection {
  return new HttpServer(options);
}

class HttpServer implements ServerConnection {
  readonly name: string | undefined;
  onMessage: ServerConnection["onMessage"] = async () => {};
  onEnd: ServerConnection["onEnd"] = () => {};
  readonly #endpoint: Endpoint;
  readonly #title: string;
  readonly #limit: number;
  readonly #log: (line: string) => void;
  readonly #closing = new AbortController();
  readonly #tools = new ListedTools();
  /** The id of the session that `initialize` has opened, in the old era. */
  #session: string | undefined;
  #version: string | undefined;
  #end: ServerEnd | undefined;

  constructor({ name, url, headers = {}, bytes, log }: HttpServerOptions) {
    this.name = name;
    this.#endpoint = new Endpoint(url, headers, (line) => this.#log(line));
    this.#title = serverTitle(name);
    this.#limit = bytes ?? SERVER_LIMITS.bytes;
    this.#log = log ?? (() => {});
  }

  async send(text: string, context: SendContext = {}): Promise<void> {
    if (this.#end !== undefined) throw new ServerError(this.#end.code, this.#end.message);
    const value: Json = JSON.parse(text);
    if (!isJsonObject(value)) throw new TypeError("text: must be a JSON-RPC message");
    const { id, method } = value;
    const isRequest = typeof method === "string";
    if (isRequest && (typeof id === "string" || typeof id === "number")) {
      return this.#request(text, value, id, context);
    }
    // Before `initialize`, and in the new era, the end of the HTTP exchange has already cancelled the request
    // (2026-07-28, "Cancellation").
    if (method === "notifications/cancelled" && this.#version === undefined) return;
    const { era = "old" } = context;
    const headers = { ...this.#headers(value, era), accept: BOTH };
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ACCEPT)]);
    const { response } = this.#endpoint.ask({ method: "POST", headers, body: text, signal });
    const { statusCode = 0 } = (await this.#accepted(response, signal)).resume();
    if (this.#hasEndedSession(statusCode, era)) throw this.#endSession();
    if (statusCode >= 400) throw this.#failure(refused(statusCode));
    if (method === "notifications/initialized" && era === "old") void this.#listen();
  }

  async #request(
    text: string,
    value: JsonObject,
    id: string | number,
    { headers: given, signal: cancelled, era = "old" }: SendContext,
  ): Promise<void> {
    if (value["method"] === "initialize") {
      this.#session = undefined;
      this.#version = undefined;
    }
    const parameters = era === "new" ? this.#tools.parametersOf(value) : new Map();
    const wrong = given === undefined ? undefined : disagreeing(given, value, parameters);
    if (wrong !== undefined) {
      const message = `Header mismatch: ${wrong} does not agree with the body`;
      return this.onMessage(errorText(id, HEADER_MISMATCH, message), { forRequest: id });
    }
    const mirrored = era === "new" ? (given ?? headersOf(value, parameters)) : {};
    const headers = { ...this.#headers(value, era), accept: BOTH, ...mirrored };
    const signals = cancelled === undefined ? [] : [cancelled];
    const signal = AbortSignal.any([this.#closing.signal, ...signals]);
    const open: Open = { id, value, era, signal, isAnswered: false };
    const asked = this.#endpoint.ask({ method: "POST", headers, body: text, signal });
    void this.#answered(asked.response, open);
    await asked.sent;
  }

  #headers(value: JsonObject, era: Era): { [name: string]: string } {
    const { method } = value;
    const headers: { [name: string]: string } = { "content-type": JSON_TYPE };
    const version = era === "new" ? versionOf(value) : this.#version;
    if (version !== undefined) headers["mcp-protocol-version"] = headerValue(version);
    if (era === "old") {
      if (this.#session !== undefined) headers["mcp-session-id"] = this.#session;
    } else if (typeof method === "string") {
      headers["mcp-method"] = headerValue(method);
      const name = namedIn(method, value);
      if (name !== undefined) headers["mcp-name"] = headerValue(name);
    }
    return headers;
  }

  /**
   * Passes on the answer to a request. A failure becomes an error answer, unless the request has been answered or
   * cancelled.
   */
  async #answered(asked: Promise<IncomingMessage>, open: Open): Promise<void> {
    try {
      await this.#follow(asked, open);
    } catch (error) {
      if (open.isAnswered || open.signal.aborted) return;
      const text = serverFailure(open.id, this.#failure(error));
      await this.onMessage(text, { forRequest: open.id });
    }
  }

  /** @throws ServerError if there is no response to the request. */
  async #follow(asked: Promise<IncomingMessage>, open: Open): Promise<void> {
    const answer = await asked;
    const { statusCode = 0, headers } = answer;
    if (statusCode >= 400) return this.#error(answer, statusCode, open);
    if (open.value["method"] === "initialize") this.#openSession(headers["mcp-session-id"]);
    const { signal } = open;
    await readAnswer(answer, {
      limit: this.#limit,
      signal,
      take: (text) => this.#take(text, open),
      resume: open.era === "new" ? undefined : (lastId) => this.#get(signal, lastId),
    });
  }

  async #error(answer: IncomingMessage, status: number, open: Open): Promise<void> {
    const body = await bodyOf(answer, this.#limit).catch(() => "");
    if (this.#hasEndedSession(status, open.era)) {
      // Ending the session answers the request with an error.
      this.#endSession();
      return;
    }
    const error = objectOf(body);
    if (error === undefined || !isObject(error["error"])) throw refused(status);
    // Errors about headers may have no id.
    const text = error["id"] === open.id ? body : edit(body, [{ path: ["id"], value: open.id }]);
    await this.#take(text, open);
  }

  #hasEndedSession(status: number, era: Era): boolean {
    return status === 404 && era === "old" && this.#session !== undefined;
  }

  /**
   * In the old era, reads the stream of messages that belong to no request. Reconnects until the session ends, or until
   * the server answers that it offers no such stream.
   */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    const session = this.#session;
    let lastId: string | undefined;
    let retry = RETRY;
    for (let wait = RETRY; !signal.aborted && session === this.#session; ) {
      try {
        const response = await this.#get(signal, lastId);
        const { statusCode = 0 } = response;
        if (mediaType(response) !== EVENTS) {
          response.resume();
          // With a status below 500, the server offers no such stream. A higher status is a temporary failure.
          if (statusCode < 500) return;
        }
        for await (const event of eventsOf(response, this.#limit, (asked) => (retry = asked))) {
          lastId = event.id ?? lastId;
          wait = retry;
          if (event.data !== "") await this.onMessage(event.data, {});
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ServerError) this.#log(`${this.#title}: ${error.message}`);
      }
      await sleep(Math.min(wait, LONGEST_RETRY), undefined, { signal, ref: false }).catch(() => {});
      wait *= 2;
    }
  }

  #get(signal: AbortSignal, lastId: string | undefined): Promise<IncomingMessage> {
    const headers = this.#headers({}, "old");
    delete headers["content-type"];
    headers["accept"] = EVENTS;
    if (lastId !== undefined) headers["last-event-id"] = lastId;
    return this.#endpoint.ask({ method: "GET", headers, signal }).response;
  }

  /**
   * Handles one message from the HTTP response to a request. Returns `true` if the message is the JSON-RPC response to
   * the request.
   */
  async #take(text: string, open: Open): Promise<boolean> {
    const message = objectOf(text);
    if (message === undefined) {
      this.#log(`${this.#title} sent something that is not an MCP message; it is dropped`);
      return false;
    }
    const isResponse = !Object.hasOwn(message, "method") && message["id"] === open.id;
    if (isResponse) {
      open.isAnswered = true;
      this.#learn(open.value, message["result"]);
    }
    await this.onMessage(text, { forRequest: open.id });
    return isResponse;
  }

  /** Remembers the protocol version and the listed tools, because headers of later requests repeat them. */
  #learn(request: JsonObject, result: Json | undefined): void {
    if (!isObject(result)) return;
    const { protocolVersion } = result;
    if (request["method"] === "initialize" && typeof protocolVersion === "string") {
      this.#version = protocolVersion;
    }
    if (request["method"] === "tools/list") this.#tools.learn(result);
  }

  #openSession(id: string | readonly string[] | undefined): void {
    if (id === undefined) return;
    if (typeof id !== "string" || !SESSION_ID.test(id)) {
      throw unreadable("its session id has characters that are not allowed in one");
    }
    this.#session = id;
  }

  #failure(error: unknown): ServerError {
    const { code, message } =
      error instanceof ServerError ? error : unreadable("its answer breaks off");
    return new ServerError(code, `${this.#title} has failed: ${message}`);
  }

  async #accepted(
    response: Promise<IncomingMessage>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    try {
      return await response;
    } catch (error) {
      if (!signal.aborted) throw this.#failure(error);
      const message = `${this.#title} has not accepted a message within ${ACCEPT / 1000} seconds`;
      throw new ServerError("server_timeout", message);
    }
  }

  /** Ends the connection, because the server has ended the session. Returns the error for the caller. */
  #endSession(): ServerError {
    const message = `${this.#title} has ended the session`;
    const error = new ServerError("server_ended", message);
    if (this.#end !== undefined) return error;
    this.#end = { code: error.code, message };
    this.#session = undefined;
    this.onEnd(this.#end);
    void this.close();
    return error;
  }

  async close(): Promise<void> {
    this.#end ??= { code: "server_ended", message: `${this.#title} has been closed` };
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    if (this.#session !== undefined) {
      const headers = this.#headers({}, "old");
      const signal = AbortSignal.timeout(FAREWELL);
      const { response } = this.#endpoint.ask({ method: "DELETE", headers, signal });
      // A server need not support DELETE.
      await response.then(
        (one) => one.resume(),
        () => {},
      );
    }
    this.#endpoint.close();
  }
}

function refused(status: number): ServerError {
  const needsCredentials = status === 401 || status === 403;
  const why = needsCredentials ? "; it may need credentials in the gate's configuration" : "";
  return new ServerError("server_unavailable", `it answers HTTP ${status}${why}`);
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
