import type { IncomingMessage } from "node:http";
import type { TextDecoder as Decoder } from "node:util";
import { createParser } from "eventsource-parser";
import { isObject } from "../../../bytes/json.js";
import { linesOf } from "../../../bytes/line-splitter.js";
import { decodeUtf8 } from "../../../bytes/utf8.js";
import { ServerError } from "./connection.js";

/** A server-sent event. */
export interface ServerEvent {
  readonly data: string;
  /** The id of the event, by which a stream can be resumed; `undefined` if the event has none. */
  readonly id: string | undefined;
}

export const JSON_TYPE = "application/json";
export const EVENTS = "text/event-stream";

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
  // The lines read so far of a message that spans several lines.
  let whole = "";
  for await (const line of linesOf(response, limit)) {
    if (line.kind === "too_large") throw tooLarge(limit);
    const text = decodeUtf8(line.bytes);
    if (text === undefined) throw unreadable("its answer is not UTF-8");
    if (whole === "" && isObjectText(text)) yield { data: text, id: undefined };
    else {
      whole += `${text}\n`;
      if (whole.length > limit) throw tooLarge(limit);
    }
  }
  if (whole.trim() !== "") yield { data: whole, id: undefined };
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
  throw unreadable("it answers compressed, which was not asked for");
}

function decoded(decoder: Decoder, bytes: Uint8Array, stream = false): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch {
    throw unreadable("its answer is not UTF-8");
  }
}

function tooLarge(limit: number): ServerError {
  return unreadable(`its answer has more than ${limit} bytes`);
}

/** Returns the error for a server whose answer cannot be used. */
export function unreadable(why: string): ServerError {
  return new ServerError("server_unreadable", why);
}
