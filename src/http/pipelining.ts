import type { RequestHandler } from "express";

/**
 * Returns middleware that handles the requests of one connection one after another, even if the client sends a request
 * before it has the previous response (HTTP pipelining). If the client disconnects, requests that still wait are
 * dropped. Node emits no `close` for a response that waits behind another response, so a handler that had begun would
 * count such a request as open for ever.
 */
export function oneAfterAnother(): RequestHandler {
  return (_req, res, next) => {
    // Node gives a response its socket once the previous response is complete.
    if (res.socket === null) res.once("socket", () => next());
    else next();
  };
}
