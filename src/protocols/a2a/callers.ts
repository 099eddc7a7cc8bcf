import type { Request, RequestHandler } from "express";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Authenticator, Caller } from "../../agent/caller.js";
import { wwwAuthenticate } from "../../auth/challenge.js";
import { answerFault } from "./body.js";
import { type Binding, fault } from "./errors.js";
import { ERROR_CODES } from "./extension.js";

/** How often a caller may call. */
export interface RateLimit {
  /** Requests of one caller (principal and agent together) within `seconds`; 600 unless given. */
  readonly requests: number;
  /** 10 unless given. */
  readonly seconds: number;
}

/**
 * The limit that holds unless another is given.
 *
 * @example
 * ```ts
 * import { RATE_LIMIT } from "proviso/a2a";
 *
 * RATE_LIMIT; // => { requests: 600, seconds: 10 }
 * ```
 */
export const RATE_LIMIT: RateLimit = { requests: 600, seconds: 10 };

const callers = new WeakMap<Request, Caller>();

/** Who makes a request. @throws TypeError for one that was not authenticated. */
export function callerOf(req: Request): Caller {
  const caller = callers.get(req);
  if (caller === undefined) throw new TypeError("this request has not been authenticated");
  return caller;
}

/** Who makes a request, if that is known. */
export function knownCaller(req: Request): Caller | undefined {
  return callers.get(req);
}

/** Finds out who calls, or answers 401; 503 if that can not be found out now. */
export function authentication(
  binding: Binding,
  authenticator: Authenticator,
  onFailure: (error: unknown, what: string) => void,
): RequestHandler {
  return async (req, res, next) => {
    const id: unknown = req.body?.id;
    let found: Awaited<ReturnType<Authenticator["authenticate"]>>;
    try {
      found = await authenticator.authenticate(req.headers.authorization);
    } catch (error) {
      onFailure(error, "authentication");
      const message = "callers can not be authenticated at the moment; try again soon";
      const why = fault(ERROR_CODES.unavailable, message, "unavailable");
      answerFault(res, binding, { ...why, retryAfter: 5 }, id);
      return;
    }
    if (found.ok) {
      callers.set(req, found.caller);
      next();
      return;
    }
    const { code, message } = found.denial;
    res.setHeader("WWW-Authenticate", wwwAuthenticate(found.denial, authenticator));
    answerFault(res, binding, fault(ERROR_CODES.unauthenticated, message, code), id);
  };
}

/** Counts requests by caller, over both bindings together, and answers 429 beyond the limit. */
export function rateLimiter(limit: RateLimit): (binding: Binding) => RequestHandler {
  const limiter = new RateLimiterMemory({ points: limit.requests, duration: limit.seconds });
  return (binding) => async (req, res, next) => {
    const { principal, invoker } = callerOf(req);
    try {
      await limiter.consume(JSON.stringify([principal, invoker]));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const seconds = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      const message = `more than ${limit.requests} requests in ${limit.seconds} s; wait ${seconds} s`;
      const why = fault(ERROR_CODES.rateLimited, message, "rate_limited");
      answerFault(res, binding, { ...why, retryAfter: seconds }, req.body?.id);
      return;
    }
    next();
  };
}
