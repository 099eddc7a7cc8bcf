import type { RequestHandler } from "express";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { type RateLimit, waitFor } from "../http/callers.js";
import type { FaultWriter } from "../http/fault.js";
import { addressKey } from "../http/trusted-proxies.js";
import { type Desk, type Refusal, sendRefusal } from "./desk.js";
import { formOf } from "./form.js";
import { isFormOf } from "./sessions.js";

/** Headers that forbid scripts, resources from other origins, frames, forms to other origins, and caches. */
const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "style-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; "),
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  // With a stricter policy, browsers would send the console's forms without the header `Origin`.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "Cache-Control": "no-store",
};

export const secureHeaders: RequestHandler = (_req, res, next) => {
  res.set(HEADERS);
  next();
};

const FRAMES = ["iframe", "frame", "embed", "object", "fencedframe"];

/**
 * Refuses requests from frames. The headers forbid frames too, but this guard shows a page with the reason, and
 * writes an event to the ledger.
 */
export function refuseFrames(desk: Desk): RequestHandler {
  return (req, res, next) => {
    if (!FRAMES.includes(req.get("Sec-Fetch-Dest") ?? "")) return next();
    return sendRefusal(desk, req, res, {
      status: 403,
      code: "framed",
      title: "Not inside another page",
      message:
        "Another page tried to show the approvals console inside itself. Open the console in a window of its own.",
    });
  };
}

const FOREIGN: Refusal = {
  status: 403,
  code: "cross_site",
  title: "Sent from another site",
  message:
    "This form was not sent from the approvals console, so nothing was done. Open the console and send the form from there.",
};

/** Refuses forms that a page of another site has sent. Browsers report the origin of a form. */
export function refuseCrossSite(desk: Desk): RequestHandler {
  return (req, res, next) => {
    if (req.method !== "POST") return next();
    const [origin, site] = [req.get("Origin"), req.get("Sec-Fetch-Site")];
    const known = origin !== undefined || site !== undefined;
    const own =
      (origin ?? desk.origin) === desk.origin && (site ?? "same-origin") === "same-origin";
    return known && own ? next() : sendRefusal(desk, req, res, FOREIGN);
  };
}

/** Refuses a form unless it comes from a page that this session was shown. */
export function refuseForgedForms(desk: Desk): RequestHandler {
  return (req, res, next) => {
    if (req.method !== "POST") return next();
    const session = desk.sessions.of(req);
    if (session !== undefined && isFormOf(session, formOf(req).text("csrf"))) return next();
    return sendRefusal(desk, req, res, {
      status: 403,
      code: "csrf",
      title: "This page is out of date",
      message:
        "The form comes from a page of an earlier sign-in, or from elsewhere, so nothing was done. Open the page again and send it from there.",
    });
  };
}

/**
 * Passes on requests of signed-in users. Redirects any other GET or HEAD request to the sign-in, after which the user
 * returns to the requested page. Refuses other methods, such as the POST of a form.
 */
export function requireUser(desk: Desk): RequestHandler {
  return (req, res, next) => {
    if (desk.sessions.of(req) !== undefined) return next();
    if (req.method === "GET" || req.method === "HEAD") {
      const to = `${desk.base}${req.url}`;
      return res.redirect(303, `${desk.base}/login?${new URLSearchParams({ to })}`);
    }
    return sendRefusal(desk, req, res, {
      status: 401,
      code: "signed_out",
      title: "Signed out",
      message: "Your session is over, so nothing was done. Sign in, and send the form again.",
    });
  };
}

/** The paths of a sign-in, relative to the console. */
const SIGN_IN = ["/login", "/callback"];

/**
 * Limits the rate of requests for each user, or for each address before the sign-in. Sign-ins are counted separately,
 * so that page requests without a session cannot use up the limit of sign-ins from the same address.
 */
export function limitRequests(desk: Desk, limit: RateLimit): RequestHandler {
  const points = { points: limit.requests, duration: limit.seconds };
  const pages = new RateLimiterMemory(points);
  const signIns = new RateLimiterMemory(points);
  return async (req, res, next) => {
    const isSignIn = SIGN_IN.includes(req.path);
    const user = isSignIn ? undefined : desk.sessions.of(req)?.principal;
    const key = JSON.stringify(user === undefined ? { at: addressKey(req) } : { user });
    const retryAfter = await waitFor(isSignIn ? signIns : pages, key);
    if (retryAfter === undefined) return next();
    return sendRefusal(desk, req, res, {
      status: 429,
      code: "rate_limited",
      title: "Too many requests",
      retryAfter,
      // The ledger gets no event, so that a flood of requests does not become a flood of events.
      recorded: true,
      message: `Wait ${retryAfter} seconds, then try again.`,
    });
  };
}

/** Returns a writer that shows faults of the middleware as a page. */
export function faultPages(desk: Desk): FaultWriter {
  return (res, { status, reason: code, message, retryAfter }) => {
    sendRefusal(desk, res.req, res, {
      status,
      code,
      title: status === 503 ? "Not at the moment" : "Not understood",
      message: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      recorded: status === 503,
    });
  };
}
