import type { Server } from "node:http";
import type { RequestHandler } from "express";
import type { FaultWriter } from "./fault.js";

/** An address to listen at. */
export interface ListenOptions {
  /** 0 for any free one, which is the default. */
  readonly port?: number;
  /** `127.0.0.1` unless given. */
  readonly host?: string;
}

/** Milliseconds that requests under way have when a server closes. */
const GRACE = 10_000;

/**
 * Starts listening.
 *
 * @returns The address, such as `http://127.0.0.1:8080`.
 * @throws Error if the port is taken.
 */
export async function listen(
  server: Server,
  { port = 0, host = "127.0.0.1" }: ListenOptions,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : 0;
  return `http://${host.includes(":") ? `[${host}]` : host}:${taken}`;
}

/** Takes no more connections, finishes the requests under way, and lets go of the port. */
export function drain(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    const force = setTimeout(() => server.closeAllConnections(), GRACE);
    // Connections are kept for more requests: those under way are let go of once they are answered.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    server.close((error) => {
      clearTimeout(force);
      clearInterval(idle);
      if (error === undefined) resolve();
      else reject(error);
    });
    server.closeIdleConnections();
  });
}

/** Answers 503 to what still comes by connections that are open while the server drains. */
export function refuseWhileDraining(
  isDraining: () => boolean,
  answer: FaultWriter,
): RequestHandler {
  return (_req, res, next) => {
    if (!isDraining()) return next();
    res.setHeader("Connection", "close");
    const message = "the agent is shutting down";
    return answer(res, { status: 503, reason: "unavailable", message });
  };
}
