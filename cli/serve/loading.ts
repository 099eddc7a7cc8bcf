import { createServer } from "node:http";
import { drain, listen } from "../../src/http/listen.js";
import type { Address } from "./settings.js";

/** Answers probes at the agent's address before the agent is there. */
export interface LoadingServer {
  /** Called with the part of the revocation list that has been read. It listens once that is a part, and not all. */
  readonly onLoading: (part: number) => void;
  /** Lets go of the address. */
  close(): Promise<void>;
}

/** Answers `/healthz` with 200 while a long revocation list is read, and all else, such as `/readyz`, with 503. */
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
      // Port 0 has no number yet; a port in use is reported when the agent itself listens.
      if (address.port !== 0 && part < 1) listening ??= listen(server, address).catch(() => {});
    },
    async close() {
      await listening;
      if (server.listening) await drain(server, { grace: 0 });
    },
  };
}
