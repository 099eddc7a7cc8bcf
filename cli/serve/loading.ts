import { createServer } from "node:http";
import { drain, listen } from "../../src/http/listen.js";
import type { Address } from "./settings.js";

/** A server that answers health checks at the agent's address until the agent listens there. */
export interface LoadingServer {
  /**
   * Reports which fraction of the revocation list has been read. The server starts to listen at the first call
   * with a fraction below 1.
   */
  readonly onLoading: (part: number) => void;
  /** Stops listening. */
  close(): Promise<void>;
}

/**
 * Creates the server for the time in which a long revocation list is read. It answers `/healthz` with 200, and
 * every other path, such as `/readyz`, with 503.
 */
export function answerWhileLoading(address: Address): LoadingServer {
  const server = createServer((req, res) => {
    const isAlive = req.url === "/healthz";
    const headers = { "Content-Type": "application/json", Connection: "close" };
    res.writeHead(isAlive ? 200 : 503, isAlive ? headers : { ...headers, "Retry-After": "5" });
    res.end(JSON.stringify({ status: isAlive ? "ok" : "loading" }));
  });
  let listening: Promise<unknown> | undefined;
  return {
    onLoading(part) {
      // For port 0, the port is not yet known. If the port is in use, the agent itself will report that.
      if (address.port !== 0 && part < 1) listening ??= listen(server, address).catch(() => {});
    },
    async close() {
      await listening;
      if (server.listening) await drain(server, { grace: 0 });
    },
  };
}
