import type { Request, RequestHandler } from "express";
import type { RateLimiterMemory } from "rate-limiter-flexible";
import type { Authenticator, Caller, CallerAuthentication, Presenter } from "../agent/caller.js";
import { wwwAuthenticate } from "../auth/bearer.js";
import { type FaultWriter, RETRY_AFTER } from "./fault.js";
import { optionalPackage } from "./optional-package.js";

/** How often a caller may call. */
export interface RateLimit {
  /** Requests of one caller (principal and agent together) within `seconds`; 600 unless given. */
  readonly requests: number;
  /** 10 unless given. */
  readonly seconds: number;
}

/** The limit that holds unless another is given. */
export const RATE_LIMIT: RateLimit = { requests: 600, seconds: 10 };

const callers = new WeakMap<Request, Caller>();
const presenters = new WeakMap<Request, Presenter>();

/** Who makes a request. @throws TypeError for one that was not authenticated. */
export function callerOf(req: Request): Caller {
  const caller = callers.get(req);
  if (caller === undefined) throw new TypeError("this request has not been authenticated");
  return caller;
}

/** Who makes a request, as far as that is known. */
export function knownCaller(req: Request): Presenter | undefined {
  return callers.get(req) ?? presenters.get(req);
}

/** Notes who makes a request, for its log: a protocol that authenticates by means of its own calls it. */
export function noteCaller(req: Request, presenter: Presenter): void {
  presenters.set(req, presenter);
}

/** Finds out who calls, or answers 401; 503 if that cannot be found out now. */
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

/** Authenticates a request once more, whose answer takes long: `undefined` for a caller that is not authentic now. */
export function authenticateAgain(
  authenticator: Authenticator,
): (req: Request) => Promise<Caller | undefined> {
  return async ({ method, originalUrl: url, headers }) => {
    const found = await authenticator.authenticate({ method, url, headers });
    return found.ok ? found.caller : undefined;
  };
}

/**
 * Counts requests by caller, over all that it is mounted on, and answers 429 beyond the limit.
 *
 * @param keyOf - What distinguishes callers; principal and agent together unless given.
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

/** Counts one more. @returns The seconds to wait where that is one too many. */
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

/** `consume` rejects with the state of the count, a `RateLimiterRes`, where there was one too many. */
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
