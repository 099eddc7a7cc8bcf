import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { type Binding, type Fault, fault, jsonRpcBody, restBody } from "./errors.js";
import { DENIAL_HEADER, ERROR_CODES } from "./extension.js";

/** What a body may be, before anything looks into it. */
export interface BodyLimits {
  /** Bytes; 256 KiB unless given. */
  readonly bytes: number;
  /** Arrays and objects within each other; 32 unless given. */
  readonly depth: number;
}

/**
 * The limits that hold unless others are given.
 *
 * @example
 * ```ts
 * import { BODY_LIMITS } from "proviso/a2a";
 *
 * BODY_LIMITS; // => { bytes: 262144, depth: 32 }
 * ```
 */
export const BODY_LIMITS: BodyLimits = { bytes: 256 * 1024, depth: 32 };

/** Reads JSON bodies within limits, and answers in the binding's own shape where it can not. */
export function jsonBody(
  binding: Binding,
  limits: BodyLimits,
): readonly (RequestHandler | ErrorRequestHandler)[] {
  const parse = express.json({
    limit: limits.bytes,
    // A few bytes could become a quarter of a megabyte.
    inflate: false,
    strict: false,
    type: ["application/json", "application/a2a+json"],
  });
  const refuse: ErrorRequestHandler = (error: { readonly type?: unknown }, _req, res, _next) => {
    answerFault(res, binding, bodyFault(error.type, limits), undefined);
  };
  const measure: RequestHandler = (req, res, next) => {
    if (!isOneObject(req.body)) {
      // The SDK would parse a text once more, past the limits; batches it does not know.
      const message = "the body must be one JSON object";
      return answerFault(res, binding, fault(-32600, message, "invalid_request"), undefined);
    }
    if (isDeeperThan(req.body, limits.depth)) {
      const message = `the body is nested more than ${limits.depth} deep`;
      return answerFault(res, binding, fault(-32600, message, "too_deep"), undefined);
    }
    if (binding === "rest" || isPlainId(req.body?.id)) return next();
    // The SDK writes it into the log as it is.
    const message = `"id" must be a number, or at most ${LONGEST_ID} printable characters`;
    return answerFault(res, binding, fault(-32600, message, "invalid_request"), undefined);
  };
  return [parse, refuse, measure];
}

function bodyFault(type: unknown, limits: BodyLimits): Fault {
  if (type === "entity.too.large") {
    const message = `the body has more than ${limits.bytes} bytes`;
    return fault(ERROR_CODES.tooLarge, message, "too_large");
  }
  if (type === "encoding.unsupported") {
    return fault(-32600, "the body must not be compressed", "invalid_request");
  }
  if (type === "charset.unsupported") {
    return fault(-32600, "the body must be UTF-8", "invalid_request");
  }
  return fault(-32700, "the body is not JSON", "parse_error");
}

const LONGEST_ID = 128;
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function isPlainId(id: unknown): boolean {
  return typeof id !== "string" || (id.length <= LONGEST_ID && !CONTROLS.test(id));
}

/** Sends a fault in the shape of a binding. */
export function answerFault(
  res: Parameters<RequestHandler>[1],
  binding: Binding,
  why: Fault,
  id: unknown,
): void {
  const codes = why.info.metadata["codes"];
  if (codes !== undefined) res.setHeader(DENIAL_HEADER, codes);
  if (why.retryAfter !== undefined) res.setHeader("Retry-After", String(why.retryAfter));
  if (binding === "rest") {
    res.status(why.status).type("application/a2a+json").json(restBody(why));
    return;
  }
  // JSON-RPC answers within HTTP; but who nobody knows, or who is too often here, is told by HTTP.
  const byHttp = [401, 413, 429, 503].includes(why.status);
  res.status(byHttp ? why.status : 200).json(jsonRpcBody(why, id));
}

/** Or nothing at all, as in a request without a body. */
function isOneObject(body: unknown): boolean {
  if (body === undefined) return true;
  return typeof body === "object" && body !== null && !Array.isArray(body);
}

function isDeeperThan(body: unknown, depth: number): boolean {
  let level: unknown[] = [body];
  for (let deep = 0; level.length > 0; deep++) {
    const inner = level.filter((value) => typeof value === "object" && value !== null);
    if (inner.length > 0 && deep >= depth) return true;
    level = inner.flatMap((value) => Object.values(value as object));
  }
  return false;
}
