import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { isDeeperThan } from "../bytes/json.js";
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
 * Reads JSON bodies within limits, and answers with a fault where it cannot.
 *
 * @param types - The content types that are read; bodies of other types are left alone.
 */
export function jsonBody(
  types: readonly string[],
  limits: BodyLimits,
  answer: FaultWriter,
): readonly (RequestHandler | ErrorRequestHandler)[] {
  const parse = express.json({
    limit: limits.bytes,
    // A few bytes could become a quarter of a megabyte.
    inflate: false,
    strict: false,
    type: [...types],
  });
  const refuse: ErrorRequestHandler = (error: { readonly type?: unknown }, _req, res, _next) => {
    answer(res, bodyFault(error.type, limits));
  };
  const measure: RequestHandler = (req, res, next) => {
    if (!isOneObject(req.body)) {
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

/** Or nothing at all, as in a request without a body. */
function isOneObject(body: unknown): boolean {
  if (body === undefined) return true;
  return typeof body === "object" && body !== null && !Array.isArray(body);
}
