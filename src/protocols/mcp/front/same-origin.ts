import type { RequestHandler, Response } from "express";
import { isLoopback } from "../../../client/address.js";

/** The web pages that may send requests, and the host names to which they may send them. */
export interface OriginRules {
  /** The address at which the gate listens. */
  readonly host: string;
  /** Further allowed origins, each as browsers send it, such as `https://app.example`. */
  readonly allowedOrigins: readonly string[];
  /** Further allowed values of the header `Host`, in lower case, such as `gate.example` or `gate.example:8443`. */
  readonly allowedHosts: readonly string[];
}

/** A host name or address, and optionally a port. A user name before them or a path after them is not allowed. */
const HOST = /^[^@/\\?#]+$/;
/** Longest part of a refused header that an answer repeats, in characters. */
const MAX_SHOWN = 200;
/** The response headers that pages may read, besides those that every page may read. */
const EXPOSED = "Mcp-Session-Id, Retry-After";
/** Seconds for which a browser may remember the answer to a preflight request. */
const MAX_AGE = 600;

/**
 * Answers with 403 a request whose `Origin` is not allowed, and a request whose `Host` is not allowed. The check of
 * `Host` protects a gate at a loopback address against DNS rebinding. For pages of an allowed origin, adds the headers
 * of CORS (Fetch Standard, section 3.3), and answers preflight requests.
 *
 * @param refuse - Answers with 403 and the reason.
 */
export function sameOrigin(
  { host, allowedOrigins, allowedHosts }: OriginRules,
  refuse: (res: Response, reason: string) => void,
): RequestHandler {
  const isLocal = isLoopback(host.includes(":") ? `[${host}]` : host);
  const isOwn = (name: string): boolean => isLocal && isLoopback(name);
  return (req, res, next) => {
    const { origin } = req.headers;
    const named = (req.headers.host ?? "").toLowerCase();
    const place =
      HOST.test(named) && URL.canParse(`http://${named}`) ? new URL(`http://${named}`) : undefined;
    const isNamed =
      allowedHosts.includes(named) ||
      (place !== undefined && (isOwn(place.hostname) || allowedHosts.includes(place.hostname)));
    if (!isNamed && (isLocal || allowedHosts.length > 0)) {
      const name = named.slice(0, MAX_SHOWN);
      return refuse(res, `the header Host names another place, "${name}"; --allow-host allows it`);
    }
    res.vary("Origin");
    if (origin === undefined) return next();
    const from = URL.canParse(origin) ? new URL(origin).hostname : "";
    if (!allowedOrigins.includes(origin) && !isOwn(from)) {
      const page = origin.slice(0, MAX_SHOWN);
      return refuse(res, `a page of "${page}" may not call this gate; --allow-origin allows it`);
    }
    res.setHeader("Access-Control-Allow-Origin", origin);
    res.setHeader("Access-Control-Expose-Headers", EXPOSED);
    const isPreflight =
      req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined;
    if (!isPreflight) return next();
    // Pages may send any header, because the names of `Mcp-Param-*` headers contain names of parameters.
    const headers = req.headers["access-control-request-headers"];
    if (headers !== undefined) res.setHeader("Access-Control-Allow-Headers", headers);
    res.vary("Access-Control-Request-Headers");
    res.setHeader("Access-Control-Allow-Methods", "GET, POST, DELETE");
    res.setHeader("Access-Control-Max-Age", MAX_AGE);
    res.status(204).end();
  };
}
