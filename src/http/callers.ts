import type { Request, RequestHandler } from "express";
import type { RateLimiterMemory } from "rate-limiter-flexible";
import type { Authenticator, Caller, CallerAuthentication, Presenter } from "../agent/caller.js";
import { wwwAuthenticate } from "../auth/bearer.js";
import { type FaultWriter, RETRY_AFTER } from "./fault.js";
import { optionalPackage } from "./optional-package.js";

/** Rate limit of each caller. */
export interface RateLimit {
  /** Most requests of one caller (principal and agent together) within `seconds`; 600 unless given. */
  readonly requests: number;
  /** The length of the window; 10 unless given. */
  readonly seconds: number;
}

/** The default rate limit. */
export const RATE_LIMIT: RateLimit = { requests: 600, seconds: 10 };

const callers = new WeakMap<Request, Caller>();
const presenters = new WeakMap<Request, Presenter>();

/** Returns the authenticated caller of a request. @throws TypeError if the request was not authenticated. */
export function callerOf(req: Request): Caller {
  const caller = callers.get(req);
  if (caller === undefined) throw new TypeError("this request has not been authenticated");
  return caller;
}

/** Returns the caller of a request; `undefined` if it is not authenticated. */
export function knownCaller(req: Request): Presenter | undefined {
  return callers.get(req) ?? presenters.get(req);
}

/** Records the caller of a request for the log. For protocols with their own authentication. */
export function noteCaller(req: Request, presenter: Presenter): void {
  presenters.set(req, presenter);
}

/**
 * Returns middleware that authenticates the caller, or answers 401; 503 if authentication is not possible at
 * present.
 */
export function authentication(
  authenticator: Authenticator,
  answer: FaultWriter,
  onFailure: (error: unknown, what: string) => void,
): RequestHandler {
  return async (req, res, next) => {
    let found: CallerAuthentication;
    try {
      const { method, originalUrl: url, headers } = req;
      found = await authenticator.authenticate({ method, url, headers });
    } catch (error) {
      onFailure(error, "authentication");
      const message = "callers cannot be authenticated at the moment; try again soon";
      return answer(res, { status: 503, reason: "unavailable", message, retryAfter: RETRY_AFTER });
    }
    if (found.ok) {
      callers.set(req, found.caller);
      return next();
    }
    const { code, message } = found.denial;
    res.setHeader("WWW-Authenticate", wwwAuthenticate(found.denial, authenticator));
    return answer(res, { status: 401, reason: code, message });
  };
}

/** Authenticates the caller of a long-running request again; `undefined` if that now fails. */
export function authenticateAgain(
  authenticator: Authenticator,
): (req: Request) => Promise<Caller | undefined> {
  return async ({ method, originalUrl: url, headers }) => {
    const found = await authenticator.authenticate({ method, url, headers });
    return found.ok ? found.caller : undefined;
  };
}

/**
 * Returns middleware that counts requests by caller, across everything it is mounted on, and answers 429 beyond
 * the limit.
 *
 * @param keyOf - Returns the key by which callers are counted; unless given, principal and agent together.
 * @throws Error if the package `rate-limiter-flexible` is not installed.
 */
export function rateLimiter(
  limit: RateLimit,
  keyOf: (req: Request) => string = partyKey,
): (answer: FaultWriter) => RequestHandler {
  const limiting = optionalPackage("rate-limiter-flexible", "a limit on requests");
  const { RateLimiterMemory } = limiting as typeof import("rate-limiter-flexible");
  const limiter = new RateLimiterMemory({ points: limit.requests, duration: limit.seconds });
  return (answer) => async (req, res, next) => {
    const retryAfter = await waitFor(limiter, keyOf(req));
    if (retryAfter === undefined) return next();
    const message = overLimit(limit, retryAfter);
    return answer(res, { status: 429, reason: "rate_limited", message, retryAfter });
  };
}

/** Counts one more request. @returns The seconds to wait if the limit is exceeded. */
export async function waitFor(
  limiter: RateLimiterMemory,
  key: string,
): Promise<number | undefined> {
  try {
    await limiter.consume(key);
    return undefined;
  } catch (error) {
    if (!isOverLimit(error)) throw error;
    return Math.max(1, Math.ceil(error.msBeforeNext / 1000));
  }
}

/**
 * Returns whether an error is a `RateLimiterRes`, the state of the count with which `consume` rejects beyond
 * the limit.
 */
function isOverLimit(error: unknown): error is { readonly msBeforeNext: number } {
  return (
    typeof error === "object" &&
    error !== null &&
    "msBeforeNext" in error &&
    typeof error.msBeforeNext === "number"
  );
}

export function overLimit({ requests, seconds }: RateLimit, wait: number): string {
  return `more than ${requests} requests in ${seconds} s; wait ${wait} s`;
}

function partyKey(req: Request): string {
  const { principal, invoker } = callerOf(req);
  return JSON.stringify([principal, invoker]);
}
