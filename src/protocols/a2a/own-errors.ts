import type { RequestHandler } from "express";
import { answerFault } from "./answer.js";
import { a2aStatus, type Binding, knownFault } from "./errors.js";

/**
 * Answers in the place of the SDK's handlers where they answer with an error: they keep of a thrown
 * error one detail and no header, and have two of A2A's own errors at another HTTP status than A2A 1.0.
 */
export function ownErrors(binding: Binding): RequestHandler {
  return (req, res, next) => {
    const send = res.json.bind(res);
    res.json = (body: unknown) => {
      res.json = send;
      const error = errorIn(body);
      const [info] = error?.data ?? error?.details ?? [];
      const why = knownFault(info);
      if (why !== undefined) {
        answerFault(res, binding, why, req.body?.id);
        return res;
      }
      const status = binding === "rest" ? a2aStatus(info?.reason) : undefined;
      if (error === undefined || status === undefined) return send(body);
      res.status(status);
      return send({ error: { ...error, code: status } });
    };
    next();
  };
}

interface SentInfo {
  readonly reason?: string;
}

interface SentError {
  /** In JSON-RPC. */
  readonly data?: readonly SentInfo[];
  /** In HTTP+JSON. */
  readonly details?: readonly SentInfo[];
}

function errorIn(body: unknown): SentError | undefined {
  if (typeof body !== "object" || body === null || !("error" in body)) return undefined;
  const { error } = body;
  return typeof error === "object" && error !== null ? error : undefined;
}
