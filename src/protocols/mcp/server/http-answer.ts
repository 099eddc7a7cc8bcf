import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { ServerError } from "./connection.js";
import { EVENTS, eventsOf, JSON_TYPE, jsonOf, mediaType, type ServerEvent } from "./endpoint.js";

/** The options by which the answer to a request is read. */
export interface AnswerReading {
  /** Longest message in bytes. */
  readonly limit: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Takes a message. Returns true for the response to the request. */
  readonly take: (text: string) => Promise<boolean>;
  /** Asks for the events after the event `lastId`; `undefined` if the server cannot repeat events. */
  readonly resume: ((lastId: string) => Promise<IncomingMessage>) | undefined;
}

/** Milliseconds before a stream is opened again: the default, and the most that a server can ask for. */
export const RETRY = 1000;
export const LONGEST_RETRY = 30_000;
/** Reconnections in a row that bring no event. */
const MOST_RETRIES = 5;
/** Milliseconds that a stream stays open after the response. */
const AFTER_RESPONSE = 1000;

/**
 * Reads the HTTP answer to a request: JSON, or events until the response.
 *
 * @throws ServerError `server_unreadable` if it ends without the response, and Error if it breaks off.
 */
export async function readAnswer(answer: IncomingMessage, reading: AnswerReading): Promise<void> {
  const type = mediaType(answer);
  if (type === EVENTS) return readStream(answer, reading);
  if (type !== JSON_TYPE) {
    answer.resume();
    throw unreadable(`it answers HTTP ${answer.statusCode} with ${type || "no content type"}`);
  }
  const end = await untilResponse(answer, jsonOf(answer, reading.limit), reading);
  if (end !== "response") throw unreadable("its answer is no response to the request");
}

/** Reads events up to the response; a stream that ends before is resumed if its events have ids. */
async function readStream(first: IncomingMessage, reading: AnswerReading): Promise<void> {
  const { limit, signal, resume } = reading;
  let answer = first;
  let lastId: string | undefined;
  let retry = RETRY;
  for (let attempts = 0; attempts <= MOST_RETRIES; attempts++) {
    const events = eventsOf(answer, limit, (milliseconds) => {
      retry = milliseconds;
    });
    const end = await untilResponse(answer, events, reading);
    if (end === "response") return;
    if (end.lastId !== undefined) {
      lastId = end.lastId;
      attempts = 0;
    }
    if (lastId === undefined || resume === undefined) break;
    await sleep(Math.min(retry, LONGEST_RETRY), undefined, { signal });
    answer = await resume(lastId);
    if (mediaType(answer) !== EVENTS) {
      answer.resume();
      break;
    }
  }
  throw unreadable("it has ended the stream before the response");
}

/** @throws ServerError for events that cannot be read. */
async function untilResponse(
  answer: IncomingMessage,
  events: AsyncGenerator<ServerEvent, void>,
  { take }: AnswerReading,
): Promise<"response" | { readonly lastId: string | undefined }> {
  let hasResponse = false;
  let lastId: string | undefined;
  try {
    for await (const { data, id } of events) {
      lastId = id ?? lastId;
      if (data === "" || !(await take(data)) || hasResponse) continue;
      hasResponse = true;
      setTimeout(() => answer.destroy(), AFTER_RESPONSE).unref();
    }
  } catch (error) {
    if (hasResponse) return "response";
    // A connection that breaks off is resumed like one that ends.
    if (error instanceof ServerError) throw error;
  }
  return hasResponse ? "response" : { lastId };
}

export function unreadable(why: string): ServerError {
  return new ServerError("server_unreadable", why);
}
