import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { ServerError } from "./connection.js";
import {
  EVENTS,
  eventsOf,
  JSON_TYPE,
  jsonOf,
  mediaType,
  type ServerEvent,
  unreadable,
} from "./response-bodies.js";

export interface AnswerReading {
  /** Longest message, in bytes. */
  readonly limit: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Takes a message. Returns `true` if the message is the response to the request. */
  readonly take: (text: string) => Promise<boolean>;
  /** Requests the events after the event `lastId`; `undefined` in the new era, in which a stream cannot be resumed. */
  readonly resume: ((lastId: string) => Promise<IncomingMessage>) | undefined;
}

/** Milliseconds before a stream is opened again: the default, and the most that a server can ask for. */
export const RETRY = 1000;
export const LONGEST_RETRY = 30_000;
/** Maximum number of consecutive reconnections without an event. */
const MOST_RETRIES = 5;
/** Milliseconds that a stream stays open after the response. */
const AFTER_RESPONSE = 1000;

/**
 * Reads the HTTP answer to a request: JSON, or events until the response.
 *
 * @throws ServerError `server_unreadable` if no response comes, `server_unavailable` if a stream cannot be resumed;
 *   Error if `signal` is aborted.
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

/**
 * Reads events up to the response. If the stream ends before the response and its events have ids, resumes the stream.
 */
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
    // A broken connection is resumed like a stream that has ended.
    if (error instanceof ServerError) throw error;
  }
  return hasResponse ? "response" : { lastId };
}
