// HTTP for every protocol: limits on bodies, callers and their rates, logs and metrics, listening and draining.
// This folder knows no protocol's codes or headers; each protocol passes its fault writer and its header names.

import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { StorageError } from "../storage/storage-error.js";

/** A fault in terms of HTTP, which each protocol converts to its own codes. */
export interface HttpFault {
  readonly status: 400 | 401 | 413 | 415 | 429 | 500 | 503;
  /** A stable code, such as `too_large`. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** Seconds after which to retry, for the header `Retry-After`. */
  readonly retryAfter?: number;
}

/** Answers a request with a fault in the form of a protocol. */
export type FaultWriter = (res: Response, fault: HttpFault) => void;

/** Returns the fault of an unreadable request. */
export function invalidRequest(message: string): HttpFault {
  return { status: 400, reason: "invalid_request", message };
}

/** Seconds after which a failed part may work again. */
export const RETRY_AFTER = 5;

/**
 * Converts an internal error to an answer that only says whether a retry can succeed. It can if a store cannot
 * be read or written, which may be temporary, as during a failover or with a full disk.
 */
export function failureFault(error: unknown): HttpFault {
  if (!(error instanceof StorageError)) {
    return { status: 500, reason: "internal_error", message: "internal error" };
  }
  const message = "what this service keeps cannot be read or written at the moment; try again soon";
  return { status: 503, reason: "unavailable", message, retryAfter: RETRY_AFTER };
}

/**
 * Returns handlers that answer every remaining request with 404, and a thrown error with a fault. Mount them
 * last.
 *
 * @param onFailure - Called with the error; the caller only learns that there was one.
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
