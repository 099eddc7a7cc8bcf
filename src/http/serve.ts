import { setMaxListeners } from "node:events";
import { createServer } from "node:http";
import express, { type Express, type RequestHandler } from "express";
import type { Authenticator } from "../agent/caller.js";
import { type BodyLimits, contentType, jsonBody } from "./body.js";
import { authentication } from "./callers.js";
import { type FaultWriter, fallback } from "./fault.js";
import { drain, type ListenOptions, listen, refuseWhileDraining } from "./listen.js";
import { type RequestLogOptions, requestLog } from "./log.js";
import { alive, type HealthCheck, readiness } from "./status.js";
import { trustProxies } from "./trusted-proxies.js";

/** The app, on one port, on which protocols are mounted. */
export interface MountPoint {
  readonly app: Express;
  /** The URL for callers, without a trailing slash. */
  readonly url: string;
  readonly isDraining: () => boolean;
  /** Aborted when the server begins to close. */
  readonly draining: AbortSignal;
}

/** A mounted protocol. */
export interface Mounted {
  /** Ends pending work whose time is over. Resolves once nothing is running. */
  stop(): Promise<void>;
}

/** Options for serving an app. */
export interface ServeOptions {
  /** The URL for callers, such as `https://agent.example`; the listening URL unless given. */
  readonly publicUrl?: string | undefined;
  /**
   * Proxies whose `X-Forwarded-For` is trusted: IP addresses, ranges such as `10.0.0.0/8`, or `loopback`,
   * `linklocal` and `uniquelocal`. None unless given.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Most milliseconds of a request; 30,000 unless given. */
  readonly timeout?: number | undefined;
  /** Milliseconds for pending requests to finish when the server closes; 10,000 unless given. */
  readonly grace?: number | undefined;
  /** Returns the problems that `/readyz` reports, besides draining. */
  readonly health?: HealthCheck | undefined;
  /** Answers requests that belong to no protocol. */
  readonly answer: FaultWriter;
  /** Called with errors outside all protocols. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** A running server. */
export interface Served<Protocols extends Mounted> {
  readonly url: string;
  readonly mounted: Protocols;
  /** Accepts no more requests, finishes pending ones, and releases the port. */
  close(): Promise<void>;
}

/** Default time limit of work in milliseconds. */
export const TIMEOUT = 30_000;

/**
 * Serves the mounted protocols, with `/healthz` and `/readyz`.
 *
 * @throws TypeError naming `options.trustedProxies`, before listening.
 * @throws Error if the port is in use.
 */
export async function serve<Protocols extends Mounted>(
  options: ServeOptions,
  address: ListenOptions,
  mount: (place: MountPoint) => Protocols,
): Promise<Served<Protocols>> {
  const app = express().disable("x-powered-by").disable("etag");
  trustProxies(app, options.trustedProxies);
  const server = createServer(app);
  // A slow sender must not occupy a connection for longer than this.
  server.requestTimeout = 15_000;
  server.headersTimeout = 10_000;
  // By default, Node drops headers beyond a number, and a capability may be among them. Their total size is
  // limited anyway.
  server.maxHeadersCount = 0;
  // A caller that does not read its answers must not occupy a connection either. While a skill runs, there may
  // be nothing to read, so allow for its time limit.
  server.timeout = (options.timeout ?? TIMEOUT) + 30_000;
  const listening = await listen(server, address);
  const url = (options.publicUrl ?? listening).replace(/\/$/, "");
  let closed: Promise<void> | undefined;
  const draining = new AbortController();
  // Each open stream adds a listener.
  setMaxListeners(0, draining.signal);
  const isDraining = (): boolean => draining.signal.aborted;
  try {
    app.get("/healthz", alive);
    app.get("/readyz", readiness(isDraining, options.health));
    const mounted = mount({ app, url, isDraining, draining: draining.signal });
    app.use(...fallback(options.answer, options.onFailure));
    const stop = (): Promise<void> => mounted.stop();
    const close = (): Promise<void> => {
      draining.abort();
      closed ??= drain(server, { grace: options.grace, overdue: stop }).finally(stop);
      return closed;
    };
    return { url, mounted, close };
  } catch (error) {
    await drain(server);
    throw error;
  }
}

/** Options of the handlers in front of one binding. */
export interface FrontOptions extends RequestLogOptions {
  readonly authenticator: Authenticator;
  /** Returns middleware that counts requests; one counter for all bindings of an agent. */
  readonly limited: (answer: FaultWriter) => RequestHandler;
  /** The content types of bodies. */
  readonly types: readonly string[];
  readonly body: BodyLimits;
  readonly isDraining: () => boolean;
  readonly answer: FaultWriter;
  readonly onFailure: (error: unknown, what: string) => void;
}

/**
 * Returns the handlers that every protocol needs in front, in order. The caller is authenticated before a body
 * is read.
 */
export function front(options: FrontOptions): readonly RequestHandler[] {
  const { answer, types } = options;
  return [
    requestLog(options),
    refuseWhileDraining(options.isDraining, answer),
    authentication(options.authenticator, answer, options.onFailure),
    options.limited(answer),
    contentType(types, answer),
    jsonBody(types, options.body, answer),
  ];
}
