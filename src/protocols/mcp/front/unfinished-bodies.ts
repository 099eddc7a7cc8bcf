import type { IncomingMessage } from "node:http";
import { overLimit } from "./held-bytes.js";

const BYTES = 64 * 1024 * 1024;

/** A body of which `bytes` have been received. */
interface Body {
  readonly req: IncomingMessage;
  readonly caller: string;
  bytes: number;
}

/**
 * The requests whose bodies have not arrived completely. The received parts stay in memory, even if the request has no
 * token. While all parts together exceed the limit, the caller with the most bytes loses its largest body.
 */
export class UnfinishedBodies {
  readonly #limit: number;
  readonly #bodies = new Set<Body>();

  /** @param limit - Maximum number of received bytes of all bodies together; 64 MiB unless given. */
  constructor(limit: number = BYTES) {
    this.#limit = limit;
  }

  /** Counts the bytes of a body until it is complete or its connection is closed. Call this just before reading it. */
  add(req: IncomingMessage, caller: string): void {
    const body: Body = { req, caller, bytes: 0 };
    this.#bodies.add(body);
    req.on("data", (part: Uint8Array) => {
      body.bytes += part.length;
      this.#enforce();
    });
    const done = (): void => void this.#bodies.delete(body);
    req.once("end", done);
    req.once("close", done);
  }

  #enforce(): void {
    for (const body of overLimit(this.#bodies, this.#limit)) {
      this.#bodies.delete(body);
      body.req.destroy();
    }
  }
}
