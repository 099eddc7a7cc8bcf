import type { Request, RequestHandler } from "express";
import type { RateLimiterMemory } from "rate-limiter-flexible";
import type { Authenticator, Caller, CallerAuthentication, Presenter } from "../agent/caller.js";
import { wwwAuthenticate } from "../auth/bearer.js";
import { type FaultWriter, RETRY_AFTER } from "./fault.js";
import { optionalPackage } from "./optional-package.js";

/** The rate limit of each HTTP client. */
export interface RateLimit {
  /** Maximum number of requests by one client (a pair of principal and agent) within `seconds`; 600 by default. */
  readonly requests: number;
  /** The length of the window in seconds; 10 by default. */
  readonly seconds: number;
}

export const RATE_LIMIT: RateLimit = { requests: 600, seconds: 10 };

const callers = new WeakMap<Request, Caller>();
const presenters = new WeakMap<Request, Presenter>();

/**
 * Returns the authenticated client of a request.
 *
 * @throws TypeError if the request is not authenticated.
 */
export function callerOf(req: Request): Caller {
  const caller = callers.get(req);
  if (caller === undefined) throw new TypeError("this request has not been authenticated");
  return caller;
}

/** Returns the client of a request; `undefined` if the request is not authenticated. */
export function knownCaller(req: Request): Presenter | undefined {
  return callers.get(req) ?? presenters.get(req);
}

/** Records the client of a request for the log, for protocols with an authentication of their own. */
export function noteCaller(req: Request, presenter: Presenter): void {
  presenters.set(req, presenter);
}

/**
 * Returns middleware that authenticates the client. It answers 401 if the authentication fails, and 503 if
 * authentication is not possible at present.
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

/** Authenticates the client of a long-running request again. Returns `undefined` if the authentication now fails. */
export function authenticateAgain(
  authenticator: Authenticator,
): (req: Request) => Promise<Caller | undefined> {
  return async ({ method, originalUrl: url, headers }) => {
    const found = await authenticator.authenticate({ method, url, headers });
    return found.ok ? found.caller : undefined;
  };
}

/**
 * Returns middleware that counts the requests of each client and answers 429 above the limit. All routes that use the
 * middleware share the count.
 *
 * @param keyOf - Returns the key under which a request is counted; by default, the pair of principal and agent.
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

/**
 * Counts one request.
 *
 * @returns The seconds to wait if the limit is exceeded; otherwise `undefined`.
 */
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
 * Returns whether an error is a `RateLimiterRes`. If the limit is exceeded, the promise of `consume` is
 * rejected with this object.
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
