import type { RequestHandler, Response } from "express";
import { isLoopback } from "../../../client/address.js";

/** A host name or address, and optionally a port. A user name or a path before or after the host is not allowed. */
const HOST = /^[^@/\\?#]+$/;

/** The web pages that may send requests, and the host names to which they may send them. */
export interface OriginRules {
  /** The address at which the gate listens. */
  readonly host: string;
  /** Further allowed origins, such as `https://app.example`. */
  readonly allowedOrigins: readonly string[];
  /** Further allowed values of the header `Host`, such as `gate.example` or `gate.example:8443`. */
  readonly allowedHosts: readonly string[];
}

/**
 * Answers with 403 a request whose `Origin` is not allowed, and a request whose `Host` is not allowed. The check of
 * `Host` protects a gate at a loopback address against DNS rebinding.
 */
export function sameOrigin(
  { host, allowedOrigins, allowedHosts }: OriginRules,
  refuse: (res: Response, reason: string) => void,
): RequestHandler {
  const isLocal = isLoopback(host.includes(":") ? `[${host}]` : host);
  const isOwn = (name: string): boolean => isLocal && isLoopback(name);
  return (req, res, next) => {
    const { origin, host: named = "" } = req.headers;
    const place =
      HOST.test(named) && URL.canParse(`http://${named}`) ? new URL(`http://${named}`) : undefined;
    const isNamed =
      allowedHosts.includes(named) ||
      (place !== undefined && (isOwn(place.hostname) || allowedHosts.includes(place.hostname)));
    if (!isNamed && (isLocal || allowedHosts.length > 0)) {
      return refuse(res, "the header Host names another place");
    }
    if (origin === undefined || allowedOrigins.includes(origin)) return next();
    const from = URL.canParse(origin) ? new URL(origin).hostname : "";
    return isOwn(from) ? next() : refuse(res, "the header Origin names a page of another site");
  };
}
