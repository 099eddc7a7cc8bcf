import type { RequestHandler, Response } from "express";
import { isLoopback } from "../../../client/address.js";

/** The pages that may call from a browser, and the names under which they may. */
export interface OriginRules {
  /** The address that is listened at. */
  readonly host: string;
  /** More allowed origins, such as `https://app.example`. */
  readonly allowedOrigins: readonly string[];
  /** More allowed names in the header `Host`, such as `gate.example` or `gate.example:8443`. */
  readonly allowedHosts: readonly string[];
}

/**
 * Refuses requests of pages of other sites with 403: those with an `Origin` that is not allowed, and, at a loopback
 * address, those under another name, which DNS rebinding would bring.
 */
export function sameOrigin(
  { host, allowedOrigins, allowedHosts }: OriginRules,
  refuse: (res: Response, reason: string) => void,
): RequestHandler {
  const isLocal = isLoopback(host.includes(":") ? `[${host}]` : host);
  const isOwn = (name: string): boolean => isLocal && isLoopback(name);
  return (req, res, next) => {
    const { origin, host: named = "" } = req.headers;
    const place = URL.canParse(`http://${named}`) ? new URL(`http://${named}`) : undefined;
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
