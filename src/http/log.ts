import type { Request, RequestHandler } from "express";
import { knownCaller } from "./callers.js";
import type { AgentMetrics } from "./metrics.js";

/** The methods of a `pino` logger that agents use. */
export interface AgentLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /**
   * Returns whether lines of a level are written. Lines that are not written are not built. By default, all
   * lines are written.
   */
  isLevelEnabled?(level: "info"): boolean;
}

/** Options for logging the requests of one binding. */
export interface RequestLogOptions {
  /** The name of the protocol binding in logs and metrics, such as `jsonrpc`. */
  readonly binding: string;
  /** The name of the response header that has the denial codes of a refusal. */
  readonly denialHeader: string;
  /** Returns the name of the method that a request calls, without any part that the client could choose freely. */
  readonly methodOf?: (req: Request) => unknown;
  readonly log: AgentLog;
  readonly metrics: AgentMetrics | undefined;
}

/**
 * Returns middleware that logs and measures each request. It never logs a request's headers, body, arguments or URL,
 * since these may be secret.
 */
export function requestLog(options: RequestLogOptions): RequestHandler {
  const { binding, denialHeader, methodOf, log, metrics } = options;
  return (req, res, next) => {
    const began = performance.now();
    res.once("close", () => {
      const seconds = (performance.now() - began) / 1000;
      metrics?.answered(binding, res.statusCode, seconds);
      if (log.isLevelEnabled?.("info") === false) return;
      const called = methodOf?.(req);
      const denials = res.getHeader(denialHeader);
      const fields = {
        binding,
        method: typeof called === "string" ? called.slice(0, 64) : req.method,
        status: res.statusCode,
        ...knownCaller(req),
        milliseconds: Math.round(seconds * 1e6) / 1000,
        denials,
        ...(res.writableFinished ? {} : { abandoned: true }),
      };
      log.info(fields, "request");
    });
    next();
  };
}

/** Returns the description and the stack of an error for the log, without anything that looks like a token. */
function loggable(error: unknown): object {
  if (!(error instanceof Error)) return { error: "a value that is not an Error was thrown" };
  const { name, message, stack = "" } = error;
  return { error: name, message: withoutSecrets(message), stack: withoutSecrets(stack) };
}

// Tokens and signatures are long runs of base64url characters. Names and paths are not.
const LONG_RUN = /[A-Za-z0-9_-]{64,}(?:\.[A-Za-z0-9_-]+)*/g;

/** Replaces anything in a string that looks like a token or a signature. */
export function withoutSecrets(text: string): string {
  return text.replace(LONG_RUN, "[withheld]");
}

/** Returns a function that logs internal errors. */
export function failureLog(log: AgentLog): (error: unknown, what: string) => void {
  return (error, what) => log.error({ ...loggable(error), what }, "failure");
}
