import type { Server } from "node:http";
import type { RequestHandler } from "express";
import { knownMembers } from "../checks/members.js";
import type { FaultWriter } from "./fault.js";

/** The address at which a server listens. */
export interface ListenOptions {
  /** The port. The default, 0, selects a free port. */
  readonly port?: number;
  /** The host name or IP address; `127.0.0.1` by default. */
  readonly host?: string;
}

/** Options for the requests that are pending when a server closes. */
export interface DrainOptions {
  /** Milliseconds within which pending requests can finish; 10,000 by default. */
  readonly grace?: number | undefined;
  /** Answers the requests that are still pending after `grace`. */
  readonly overdue?: () => Promise<void>;
}

const GRACE = 10_000;
/** After `overdue` is called, the last answers must be sent within this many milliseconds. */
const LAST = 1000;

/**
 * Starts listening.
 *
 * @param options - The address. Error messages call it `address`.
 * @returns The URL, such as `http://127.0.0.1:8080`.
 * @throws TypeError if an option is unknown.
 * @throws Error if the port is in use.
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

/** Accepts no further connections, finishes the pending requests, and releases the port. */
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
    // A connection with a pending request stays open for further requests. Close each connection when it
    // becomes idle.
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

/** Returns middleware that answers 503 while the server drains, for connections that are still open. */
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
