import type { Server } from "node:http";
import type { RequestHandler } from "express";
import { knownMembers } from "../checks/members.js";
import type { FaultWriter } from "./fault.js";

/** The address at which a server listens. */
export interface ListenOptions {
  /** The port; 0, the default, selects any free port. */
  readonly port?: number;
  /** The host name or IP address; `127.0.0.1` unless given. */
  readonly host?: string;
}

/** Options for the requests that are pending when a server closes. */
export interface DrainOptions {
  /** Milliseconds for pending requests to finish; 10,000 unless given. */
  readonly grace?: number | undefined;
  /** Called after the grace, to answer the requests that are still pending. */
  readonly overdue?: () => Promise<void>;
}

const GRACE = 10_000;
/** Milliseconds for sending the last answers. */
const LAST = 1000;

/**
 * Starts listening. @param options - Called `address` in messages.
 * @returns The URL, such as `http://127.0.0.1:8080`.
 * @throws TypeError if an option is unknown. @throws Error if the port is in use.
 */
export async function listen(server: Server, options: ListenOptions): Promise<string> {
  const { port = 0, host = "127.0.0.1" } = knownMembers(options, ["port", "host"], "address");
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

/** Accepts no more connections, finishes pending requests, and releases the port. */
export function drain(
  server: Server,
  { grace = GRACE, overdue = async () => {} }: DrainOptions = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cut = (): void => server.closeAllConnections();
    let force = setTimeout(() => {
      force = setTimeout(cut, LAST);
      overdue().catch(cut);
    }, grace);
    // Connections with pending requests would stay open for more; close them once they are idle.
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

/** Answers 503 to requests on connections that are still open while the server drains. */
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
