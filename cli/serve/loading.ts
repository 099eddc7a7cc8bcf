import { createServer } from "node:http";
import { drain, listen } from "../../src/http/listen.js";
import type { Address } from "./settings.js";

/** Answers health checks at the agent's address until the agent itself does. */
export interface LoadingServer {
  /**
   * Called with the fraction of the revocation list that has been read. At the first fraction below 1, it
   * starts listening.
   */
  readonly onLoading: (part: number) => void;
  /** Stops listening. */
  close(): Promise<void>;
}

/**
 * Answers while a long revocation list is read: `/healthz` with 200, and everything else, such as `/readyz`,
 * with 503.
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
      // Port 0 has no number yet; a port in use is reported by the agent itself.
      if (address.port !== 0 && part < 1) listening ??= listen(server, address).catch(() => {});
    },
    async close() {
      await listening;
      if (server.listening) await drain(server, { grace: 0 });
    },
  };
}
