import type { IncomingMessage } from "node:http";

const BYTES = 64 * 1024 * 1024;

/**
 * The requests whose bodies have not arrived completely. The received parts stay in memory, even if the request has no
 * token. While all parts together exceed the limit, the client with the largest part is disconnected.
 */
export class UnfinishedBodies {
  readonly #limit: number;
  /** The number of bytes received of each body. */
  readonly #received = new Map<IncomingMessage, number>();

  /** @param limit - Maximum number of received bytes of all bodies together; 64 MiB unless given. */
  constructor(limit: number = BYTES) {
    this.#limit = limit;
  }

  /** Counts the bytes of a body until it is complete or its connection is closed. Call this just before reading it. */
  add(req: IncomingMessage): void {
    this.#received.set(req, 0);
    req.on("data", (part: Uint8Array) => {
      const before = this.#received.get(req);
      if (before === undefined) return;
      this.#received.set(req, before + part.length);
      this.#enforce();
    });
    const done = (): void => void this.#received.delete(req);
    req.once("end", done);
    req.once("close", done);
  }

  #enforce(): void {
    let bytes = [...this.#received.values()].reduce((sum, one) => sum + one, 0);
    if (bytes <= this.#limit) return;
    const largestFirst = [...this.#received].sort(([, a], [, b]) => b - a);
    for (const [req, received] of largestFirst) {
      if (bytes <= this.#limit) return;
      bytes -= received;
      this.#received.delete(req);
      req.destroy();
    }
  }
}
