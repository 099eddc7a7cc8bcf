import type { ErrorRequestHandler, RequestHandler } from "express";
import { type FaultWriter, invalidRequest } from "./fault.js";

/**
 * What answers a request that nothing else has answered: 404 to an unknown address, and a fault in the
 * place of what was thrown. To be mounted last.
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
    return answer(res, { status: 500, reason: "internal_error", message: "internal error" });
  };
  return [unknown, failed];
}
