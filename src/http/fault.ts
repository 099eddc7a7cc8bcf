// HTTP parts that every protocol uses: limits of bodies, authentication, rate limits, logs and metrics, and
// starting and stopping a server. This folder knows no protocol's error codes or headers. Each protocol passes
// its own fault writer and header names.

import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { StorageError } from "../storage/storage-error.js";

/** A fault in terms of HTTP. Each protocol converts it to its own error codes. */
export interface HttpFault {
  readonly status: 400 | 401 | 413 | 415 | 429 | 500 | 503;
  /** A stable code, such as `too_large`. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** Seconds after which the client can retry, for the header `Retry-After`. */
  readonly retryAfter?: number;
}

/** Answers a request with a fault, in the form of one protocol. */
export type FaultWriter = (res: Response, fault: HttpFault) => void;

/** Returns the fault of an unreadable request. */
export function invalidRequest(message: string): HttpFault {
  return { status: 400, reason: "invalid_request", message };
}

/** Seconds after which a client should retry, if a store or another dependency has failed. */
export const RETRY_AFTER = 5;

/**
 * Converts an internal error to a fault that only says whether a retry can succeed. It can succeed if a store
 * cannot be read or written at present, for example during a failover or while the disk is full.
 */
export function failureFault(error: unknown): HttpFault {
  if (!(error instanceof StorageError)) {
    return { status: 500, reason: "internal_error", message: "internal error" };
  }
  const message = "what this service keeps cannot be read or written at the moment; try again soon";
  return { status: 503, reason: "unavailable", message, retryAfter: RETRY_AFTER };
}

/**
 * Returns two handlers. The first one answers every remaining request with 404. The second one answers a thrown
 * error with a fault. Mount them last.
 *
 * @param onFailure - Receives the error. The client only learns that there was an error.
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
