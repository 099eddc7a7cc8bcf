import type { Request, RequestHandler } from "express";
import { knownCaller } from "./callers.js";
import type { AgentMetrics } from "./metrics.js";

/** The part of a `pino` logger that is used here. */
export interface AgentLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Returns whether lines of a level are written; otherwise they are not even built. True unless given. */
  isLevelEnabled?(level: "info"): boolean;
}

/** Options for logging the requests of one binding. */
export interface RequestLogOptions {
  /** The name of the binding in logs and metrics, such as `jsonrpc`. */
  readonly binding: string;
  /** The response header with the codes of a refusal. */
  readonly denialHeader: string;
  /** Returns the name of what a request calls, without anything that its caller chose freely. */
  readonly methodOf?: (req: Request) => unknown;
  readonly log: AgentLog;
  readonly metrics: AgentMetrics | undefined;
}

/**
 * Returns middleware that logs and measures each answered request. It never logs a header, body, argument or
 * URL, which may be secret.
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

/** Returns an error's description and stack for the log, without anything that looks like a token. */
function loggable(error: unknown): object {
  if (!(error instanceof Error)) return { error: "something that is no error was thrown" };
  const { name, message, stack = "" } = error;
  return { error: name, message: withoutSecrets(message), stack: withoutSecrets(stack) };
}

// Tokens and signatures are long runs of base64url; names and paths are not.
const LONG_RUN = /[A-Za-z0-9_-]{64,}(?:\.[A-Za-z0-9_-]+)*/g;

/** Removes anything that looks like a token or a signature from a string. */
export function withoutSecrets(text: string): string {
  return text.replace(LONG_RUN, "[withheld]");
}

/** Returns a function that logs internal errors. */
export function failureLog(log: AgentLog): (error: unknown, what: string) => void {
  return (error, what) => log.error({ ...loggable(error), what }, "failure");
}
