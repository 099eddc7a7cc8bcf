import { createServer } from "node:http";
import { drain, listen } from "../../src/http/listen.js";
import type { Address } from "./settings.js";

/** Answers probes at the agent's address before the agent does. */
export interface LoadingServer {
  /** Called with the fraction of the revocation list that has been read. Begins to listen at the first call below 1. */
  readonly onLoading: (part: number) => void;
  /** Releases the address. */
  close(): Promise<void>;
}

/**
 * Answers `/healthz` with 200 while a long revocation list is read, and everything else, such as `/readyz`,
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
      // The number of port 0 is not known yet; the agent itself reports a port in use.
      if (address.port !== 0 && part < 1) listening ??= listen(server, address).catch(() => {});
    },
    async close() {
      await listening;
      if (server.listening) await drain(server, { grace: 0 });
    },
  };
}
