import type { ServerResponse } from "node:http";

/**
 * Calls a function when a response is closed: it is complete, or the client has disconnected. If the client
 * disconnected while the server waited for something else, the response is closed already, and the function is called
 * at once.
 */
export function whenClosed(res: ServerResponse, then: () => void): void {
  if (res.closed) then();
  else res.once("close", then);
}
