import type { Request, RequestHandler } from "express";
import { knownCaller } from "./callers.js";
import type { AgentMetrics } from "./metrics.js";

/** What is used of a `pino` logger. */
export interface AgentLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Whether lines of a level are written: of what is not, nothing is put together. They are unless given. */
  isLevelEnabled?(level: "info"): boolean;
}

/** How the requests of one way into an agent are logged. */
export interface RequestLogOptions {
  /** What logs and metrics call that way, such as `jsonrpc`. */
  readonly binding: string;
  /** The header of a response that has the codes of a refusal. */
  readonly denialHeader: string;
  /** What a request calls, as it may be logged: nothing that its caller chose freely. */
  readonly methodOf?: (req: Request) => unknown;
  readonly log: AgentLog;
  readonly metrics: AgentMetrics | undefined;
}

/** Logs and measures each answered request: never a header, body, argument or address, which may be secret. */
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

/** An error as it may be logged: what it is and where, with anything like a token taken out. */
function loggable(error: unknown): object {
  if (!(error instanceof Error)) return { error: "something that is no error was thrown" };
  const { name, message, stack = "" } = error;
  return { error: name, message: withoutSecrets(message), stack: withoutSecrets(stack) };
}

// Tokens, access tokens and signatures are long runs of base64url; names and paths are not.
const LONG_RUN = /[A-Za-z0-9_-]{64,}(?:\.[A-Za-z0-9_-]+)*/g;

/** A text with anything like a token or a signature taken out. */
export function withoutSecrets(text: string): string {
  return text.replace(LONG_RUN, "[withheld]");
}

/** What is called with what fails within, for the log alone. */
export function failureLog(log: AgentLog): (error: unknown, what: string) => void {
  return (error, what) => log.error({ ...loggable(error), what }, "failure");
}
