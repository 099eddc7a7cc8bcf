// What every protocol needs of HTTP: bodies within limits, callers and how often they call, logs and
// metrics, listening and draining. Nothing here knows a protocol's codes or headers: each passes in how
// it answers a fault and what its headers are called.

import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { StorageError } from "../storage/storage-error.js";

/** A wrong request in HTTP's words, to which each protocol gives codes of its own. */
export interface HttpFault {
  readonly status: 400 | 401 | 413 | 415 | 429 | 500 | 503;
  /** A stable word for programs, such as `too_large`. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** Seconds after which to try again, as the header `Retry-After` says. */
  readonly retryAfter?: number;
}

/** Answers a request with a fault, in the shape of the protocol that the request came by. */
export type FaultWriter = (res: Response, fault: HttpFault) => void;

/** A request that cannot be read. */
export function invalidRequest(message: string): HttpFault {
  return { status: 400, reason: "invalid_request", message };
}

/** Seconds after which what failed may work again. */
export const RETRY_AFTER = 5;

/**
 * The answer to what was thrown within: its caller learns only whether to try again. A store that cannot be read or
 * written is the service's trouble for a time, such as a failover or a full disk.
 */
export function failureFault(error: unknown): HttpFault {
  if (!(error instanceof StorageError)) {
    return { status: 500, reason: "internal_error", message: "internal error" };
  }
  const message = "what this service keeps cannot be read or written at the moment; try again soon";
  return { status: 503, reason: "unavailable", message, retryAfter: RETRY_AFTER };
}

/**
 * Answers what nothing else has: 404, or a fault for what was thrown. Mount it last.
 *
 * @param onFailure - Called with what was thrown; the caller learns only that something was.
 */
export function fallback(
  answer: FaultWriter,
  onFailure: (error: unknown, what: string) => void,
): readonly [RequestHandler, ErrorRequestHandler] {
  const unknown: RequestHandler = (_req, res) => {
    res.status(404).json({ error: { code: 404, status: "NOT_FOUND", message: "not found" } });
  };
  const failed: ErrorRequestHandler = (error, _req, res, next) => {
    if (error instanceof URIError && !res.headersSent) {
      return answer(res, invalidRequest("the address cannot be decoded"));
    }
    onFailure(error, "request");
    if (res.headersSent) return next(error);
    return answer(res, failureFault(error));
  };
  return [unknown, failed];
}
