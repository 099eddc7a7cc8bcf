import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { TextDecoder as Decoder } from "node:util";
import { createParser } from "eventsource-parser";
import { isObject } from "../../../bytes/json.js";
import { LineSplitter, type SplitLine } from "../../../bytes/line-splitter.js";
import { decodeUtf8 } from "../../../bytes/utf8.js";
import { errorCode } from "../../../system/error-code.js";
import { ServerError } from "./connection.js";

/** One HTTP request to a server. */
export interface EndpointRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: { readonly [name: string]: string };
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** A request that is being sent. */
export interface Asked {
  /** Fulfilled once the request is written, or has failed. */
  readonly sent: Promise<void>;
  /** Rejected with a ServerError `server_unavailable` if there is no answer. */
  readonly response: Promise<IncomingMessage>;
}

/** A server-sent event. */
export interface ServerEvent {
  readonly data: string;
  /** The id of the event, by which a stream can be resumed; `undefined` if the event has none. */
  readonly id: string | undefined;
}

export const JSON_TYPE = "application/json";
export const EVENTS = "text/event-stream";

const MOST_REDIRECTS = 3;
/** Milliseconds in which a connection must be established. */
const CONNECT = 20_000;

/** The address of a server over Streamable HTTP. Redirects are followed only within the same origin. */
export class Endpoint {
  readonly #url: URL;
  /** Headers of every request, from the configuration. */
  readonly #headers: { readonly [name: string]: string };
  readonly #log: (line: string) => void;
  readonly #agent: HttpAgent;

  /** @param log - Called with a sentence for the operator, which may contain addresses. */
  constructor(url: URL, headers: { readonly [name: string]: string }, log: (line: string) => void) {
    this.#url = url;
    this.#headers = headers;
    this.#log = log;
    const options = { keepAlive: true };
    this.#agent = url.protocol === "http:" ? new HttpAgent(options) : new HttpsAgent(options);
  }

  ask(request: EndpointRequest): Asked {
    let written = (): void => {};
    const sent = new Promise<void>((resolve) => {
      written = resolve;
    });
    const response = this.#follow(request, written);
    response.catch(written);
    return { sent, response };
  }

  close(): void {
    this.#agent.destroy();
  }

  async #follow(request: EndpointRequest, written: () => void): Promise<IncomingMessage> {
    let url = this.#url;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#once(url, request, written);
      const { statusCode = 0, headers } = response;
      if (statusCode < 300 || statusCode >= 400) return response;
      response.resume();
      url = this.#target(url, statusCode, headers.location ?? "");
      if (redirects === MOST_REDIRECTS) throw unavailable("redirects too often");
    }
  }

  /** @throws ServerError unless the redirect keeps the method and stays within the origin. */
  #target(from: URL, status: number, location: string): URL {
    const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
    const isSame =
      target?.origin === from.origin && target.username === "" && target.password === "";
    if (target !== undefined && isSame && (status === 307 || status === 308)) return target;
    const where = target === undefined ? "elsewhere" : `to ${target.origin}${target.pathname}`;
    this.#log(`${from.origin}${from.pathname} redirects ${where}; if that is right, name it`);
    throw unavailable(`redirects with HTTP ${status}, which is not followed`);
  }

  #once(
    url: URL,
    { method, headers, body, signal }: EndpointRequest,
    written: () => void,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = url.protocol === "http:" ? requestHttp : requestHttps;
      const all = { ...this.#headers, ...headers, "accept-encoding": "identity" };
      const sent = request(url, { method, headers: all, agent: this.#agent });
      // The signal is not passed as an option of the request: it could then destroy the socket later, while the socket
      // carries another request.
      const abort = (): void => void sent.destroy();
      signal.addEventListener("abort", abort, { once: true });
      sent.once("close", () => signal.removeEventListener("abort", abort));
      if (signal.aborted) abort();
      sent.once("socket", (socket) => {
        if (!socket.connecting) return;
        const late = setTimeout(() => sent.destroy(new Error("no connection")), CONNECT);
        socket.once(url.protocol === "http:" ? "connect" : "secureConnect", () =>
          clearTimeout(late),
        );
        sent.once("close", () => clearTimeout(late));
      });
      // A server may answer or disconnect before it has read the whole request.
      for (const event of ["finish", "response", "close"]) sent.once(event, written);
      sent.once("response", (response) => {
        // A response that is not read can still fail. Without a listener, its error would end the process.
        response.on("error", () => {});
        resolve(response);
      });
      sent.on("error", (error) => {
        reject(unavailable(`cannot be reached (${errorCode(error) || error.message})`));
      });
      sent.end(body);
    });
  }
}

function unavailable(what: string): ServerError {
  return new ServerError("server_unavailable", `it ${what}`);
}

/** Returns the media type of a response, such as `text/event-stream`. */
export function mediaType({ headers }: IncomingMessage): string {
  return (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * Reads a body.
 *
 * @throws ServerError `server_unreadable` if the body is over the limit, compressed or not UTF-8.
 */
export async function bodyOf(response: IncomingMessage, limit: number): Promise<string> {
  assertPlain(response);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return decoded(new TextDecoder("utf-8", { fatal: true }), Buffer.concat(chunks));
}

/**
 * Yields server-sent events as they arrive. Reads the response no faster than the events are consumed.
 *
 * @param onRetry - Called with the milliseconds that the server asks for before a reconnection.
 * @throws ServerError `server_unreadable` for an event over the limit, or bytes that are not UTF-8.
 */
export async function* eventsOf(
  response: IncomingMessage,
  limit: number,
  onRetry: (milliseconds: number) => void,
): AsyncGenerator<ServerEvent, void> {
  assertPlain(response);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let waiting: ServerEvent[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: limit,
    onRetry,
    onEvent: ({ event = "message", data, id }) => {
      if (data.length > limit) isTooLarge = true;
      else if (event === "message") waiting.push({ data, id });
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") isTooLarge = true;
    },
  });
  for await (const chunk of response) {
    parser.feed(decoded(decoder, chunk, true));
    const events = waiting;
    waiting = [];
    yield* events;
    if (isTooLarge) throw tooLarge(limit);
  }
}

/**
 * Yields JSON messages as they arrive: one message, or several messages, each on its own line. The specification allows
 * only one message, but the server of its conformance suite sends several.
 *
 * @throws ServerError `server_unreadable` over the limit, or for bytes that are not UTF-8.
 */
export async function* jsonOf(
  response: IncomingMessage,
  limit: number,
): AsyncGenerator<ServerEvent, void> {
  assertPlain(response);
  const splitter = new LineSplitter(limit);
  // The lines read so far of a message that spans several lines.
  let whole = "";
  const messageIn = (line: SplitLine): string | undefined => {
    if (line.kind === "too_large") throw tooLarge(limit);
    const text = decodeUtf8(line.bytes);
    if (text === undefined) throw new ServerError("server_unreadable", "its answer is not UTF-8");
    if (whole === "" && isObjectText(text)) return text;
    whole += `${text}\n`;
    if (whole.length > limit) throw tooLarge(limit);
    return undefined;
  };
  for await (const chunk of response) {
    for (const line of splitter.split(chunk)) {
      const data = messageIn(line);
      if (data !== undefined) yield { data, id: undefined };
    }
  }
  const rest = splitter.rest();
  const data = (rest === undefined ? undefined : messageIn(rest)) ?? whole;
  if (data.trim() !== "") yield { data, id: undefined };
}

function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function assertPlain({ headers }: IncomingMessage): void {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() === "identity") return;
  throw new ServerError("server_unreadable", "it answers compressed, which was not asked for");
}

function decoded(decoder: Decoder, bytes: Uint8Array, stream = false): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch {
    throw new ServerError("server_unreadable", "its answer is not UTF-8");
  }
}

function tooLarge(limit: number): ServerError {
  return new ServerError("server_unreadable", `its answer has more than ${limit} bytes`);
}
