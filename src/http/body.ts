import type { IncomingMessage } from "node:http";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { isDeeperThan, isObject, textsIn } from "../bytes/json.js";
import { type FaultWriter, type HttpFault, invalidRequest } from "./fault.js";

/** What a body may be, before anything looks into it. */
export interface BodyLimits {
  /** Bytes; 256 KiB unless given. */
  readonly bytes: number;
  /** Arrays and objects within each other; 32 unless given. */
  readonly depth: number;
}

/** The limits that hold unless others are given. */
export const BODY_LIMITS: BodyLimits = { bytes: 256 * 1024, depth: 32 };

/**
 * Reads JSON bodies within limits, or answers with a fault.
 *
 * @param types - Others are left alone.
 * @param received - Called with the bytes of each body, before they are parsed.
 */
export function jsonBody(
  types: readonly string[],
  limits: BodyLimits,
  answer: FaultWriter,
  received: (req: IncomingMessage, bytes: Uint8Array) => void = () => {},
): readonly (RequestHandler | ErrorRequestHandler)[] {
  const parse = express.json({
    limit: limits.bytes,
    // A few bytes could become a quarter of a megabyte.
    inflate: false,
    strict: false,
    type: [...types],
    verify: (req, _res, bytes) => received(req, bytes),
  });
  const refuse: ErrorRequestHandler = (error: { readonly type?: unknown }, _req, res, _next) => {
    answer(res, bodyFault(error.type, limits));
  };
  const measure: RequestHandler = (req, res, next) => {
    // Nothing at all is left to what reads it, as in a request without a body.
    if (req.body !== undefined && !isObject(req.body)) {
      // A protocol's own reader may parse a text once more, past the limits.
      return answer(res, invalidRequest("the body must be one JSON object"));
    }
    if (!isDeeperThan(req.body, limits.depth)) return next();
    const message = `the body is nested more than ${limits.depth} deep`;
    return answer(res, { status: 400, reason: "too_deep", message });
  };
  return [parse, refuse, measure];
}

function bodyFault(type: unknown, limits: BodyLimits): HttpFault {
  if (type === "entity.too.large") {
    const message = `the body has more than ${limits.bytes} bytes`;
    return { status: 413, reason: "too_large", message };
  }
  if (type === "encoding.unsupported") return invalidRequest("the body must not be compressed");
  if (type === "charset.unsupported") return invalidRequest("the body must be UTF-8");
  return { status: 400, reason: "parse_error", message: "the body is not JSON" };
}

/** Refuses, unread, a body that is not JSON in UTF-8. @param types - Such as `application/json`. */
export function contentType(types: readonly string[], answer: FaultWriter): RequestHandler {
  const taken = [...types];
  return (req, res, next) => {
    const { "content-type": type = "", "content-length": length } = req.headers;
    const is = req.is(taken);
    // Without a body there is nothing to read; one without a type would be passed over unread.
    if (is === null || (type === "" && length === "0")) return next();
    if (is === false) {
      const message = `the body must be ${taken.join(" or ")}, not ${JSON.stringify(type.slice(0, 64))}`;
      return answer(res, { status: 415, reason: "content_type", message });
    }
    // Whatever looks like a charset, in quotes too: readers of the header may differ on which counts.
    const charsets = [...type.matchAll(CHARSET)].map(([, charset = ""]) => charset.toLowerCase());
    if (charsets.every((charset) => charset === "utf-8")) return next();
    return answer(res, invalidRequest("the body must be UTF-8"));
  };
}

const CHARSET = /charset\s*=\s*"?([^\s";]+)/gi;

/** Refuses a body with half of a surrogate pair in it, which nothing could keep as it came. */
export function wellFormedBody(answer: FaultWriter): RequestHandler {
  return (req, res, next) => {
    let sound = true;
    for (const text of textsIn(req.body)) sound &&= text.isWellFormed();
    if (sound) return next();
    return answer(res, invalidRequest("a text in the body has half of a surrogate pair"));
  };
}
