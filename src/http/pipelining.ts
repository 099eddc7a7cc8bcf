import type { RequestHandler } from "express";

/**
 * Returns middleware that closes the connection of a client that sends a request before the previous request on the
 * connection has been answered (HTTP pipelining). MCP and A2A clients do not do this. If the client disconnects, Node
 * emits no `close` for a response that waits behind another response, so the gate or agent would count the request as
 * open for ever.
 */
export function refusePipelined(): RequestHandler {
  return (req, res, next) => {
    // Node assigns the socket to a response only after the previous response is complete.
    if (res.socket === null) req.socket.destroy();
    else next();
  };
}
