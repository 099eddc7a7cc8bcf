import type { Response } from "express";
import type { FaultWriter } from "../../http/fault.js";
import {
  type Binding,
  type Fault,
  faultFromHttp,
  jsonRpcBody,
  restBody,
  statusOf,
} from "./errors.js";
import { DENIAL_HEADER } from "./extension.js";

/** Content types of bodies in each binding (A2A 1.0, sections 9.1 and 11.1). */
export const BODY_TYPES: Readonly<Record<Binding, readonly string[]>> = {
  jsonrpc: ["application/json"],
  rest: ["application/json", "application/a2a+json"],
};

/**
 * Sends a fault in the error format of a binding.
 *
 * @param id - The id of the JSON-RPC request, if known.
 */
export function answerFault(res: Response, binding: Binding, why: Fault, id?: unknown): void {
  setFaultHeaders(res, why);
  if (binding === "rest") {
    res.status(why.status).type("application/a2a+json").json(restBody(why));
    return;
  }
  res.status(rpcStatus(why.code)).json(jsonRpcBody(why, id));
}

/** Sets the headers that describe a fault, for clients that do not read the body. */
export function setFaultHeaders(res: Response, why: Fault): void {
  const codes = why.info.metadata["codes"];
  if (codes !== undefined) res.setHeader(DENIAL_HEADER, codes);
  if (why.retryAfter !== undefined) res.setHeader("Retry-After", String(why.retryAfter));
  if (why.status === 401 && !res.hasHeader("WWW-Authenticate")) {
    res.setHeader("WWW-Authenticate", "Bearer");
  }
}

/**
 * Ends an event stream with a fault as the last event.
 *
 * @param id - The id of the JSON-RPC request.
 */
export function endStream(res: Response, binding: Binding, why: Fault, id?: unknown): void {
  if (res.writableEnded) return;
  const body = binding === "rest" ? restBody(why) : jsonRpcBody(why, id);
  res.end(`event: error\n${eventText(body)}`);
}

/** Formats JSON as an event of a stream (`text/event-stream`). */
export function eventText(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/**
 * Returns the HTTP status of a JSON-RPC answer: 200, except for faults that clients and proxies must recognize
 * without reading the body.
 *
 * @param code - The error code in the answer; `undefined` without an error.
 */
export function rpcStatus(code: unknown): number {
  const status = typeof code === "number" ? statusOf(code) : 200;
  return [401, 413, 429, 503].includes(status) ? status : 200;
}

/** Returns a function that sends the faults of earlier middleware in the error format of a binding. */
export function faultWriter(binding: Binding): FaultWriter {
  return (res, why) => answerFault(res, binding, faultFromHttp(why));
}

/** Returns whether an id is safe to log: short, and without control characters. */
export function isPlainText(id: string): boolean {
  return id.length <= LONGEST_ID && !CONTROLS.test(id);
}

/** Longest id that a caller may choose, in characters. */
export const LONGEST_ID = 128;
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
