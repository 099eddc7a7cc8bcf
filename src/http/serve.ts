import { setMaxListeners } from "node:events";
import { createServer } from "node:http";
import express, { type Express, type RequestHandler } from "express";
import type { Authenticator } from "../agent/caller.js";
import { type BodyLimits, contentType, jsonBody } from "./body.js";
import { authentication } from "./callers.js";
import { type FaultWriter, fallback } from "./fault.js";
import { drain, type ListenOptions, listen, refuseWhileDraining } from "./listen.js";
import { type RequestLogOptions, requestLog } from "./log.js";
import { oneAfterAnother } from "./pipelining.js";
import { alive, type HealthCheck, readiness } from "./status.js";
import { trustProxies } from "./trusted-proxies.js";

/** The Express app on which the protocols are mounted. It has one port. */
export interface MountPoint {
  readonly app: Express;
  /** The URL under which clients reach the app, without a trailing slash. */
  readonly url: string;
  readonly isDraining: () => boolean;
  /** Aborted when the server begins to shut down. */
  readonly draining: AbortSignal;
}

/** A mounted protocol. */
export interface Mounted {
  /** Ends work that is still pending. The promise is fulfilled once nothing is running. */
  stop(): Promise<void>;
}

/** Options for serving an app. */
export interface ServeOptions {
  /**
   * The URL under which clients reach the app, such as `https://agent.example`. The default is the URL at which
   * the server listens.
   */
  readonly publicUrl?: string | undefined;
  /**
   * The proxies whose header `X-Forwarded-For` is trusted: IP addresses, ranges such as `10.0.0.0/8`, or
   * `loopback`, `linklocal` and `uniquelocal`. By default, no proxy is trusted.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * Longest time that a protocol may take for a request, in milliseconds; 30,000 by default. The server closes a
   * connection that is inactive for 30 seconds more.
   */
  readonly timeout?: number | undefined;
  /** Milliseconds within which pending requests can finish when the server closes; 10,000 by default. */
  readonly grace?: number | undefined;
  /** Returns the problems that `/readyz` reports, apart from draining. */
  readonly health?: HealthCheck | undefined;
  /** Answers a request with a fault, if an error occurs outside all protocols. */
  readonly answer: FaultWriter;
  /** Receives errors that occur outside all protocols. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** A running server. */
export interface Served<Protocols extends Mounted> {
  readonly url: string;
  readonly mounted: Protocols;
  /** Accepts no further requests, finishes the pending ones, and releases the port. */
  close(): Promise<void>;
}

/** The default time limit of work, in milliseconds. */
export const TIMEOUT = 30_000;

/**
 * Serves the mounted protocols, with `/healthz` and `/readyz`.
 *
 * @throws TypeError that names `options.trustedProxies`, before the server listens.
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
  // A slow sender must not occupy a connection for longer than these limits.
  server.requestTimeout = 15_000;
  server.headersTimeout = 10_000;
  // By default, Node ignores headers after about the first 1,000, and a capability may be among the ignored
  // ones. Node also limits the total size of all headers, which suffices.
  server.maxHeadersCount = 0;
  // A client that does not read its answers must not occupy a connection either. While a skill runs, there may
  // be nothing to read, so the time limit of a request is added.
  server.timeout = (options.timeout ?? TIMEOUT) + 30_000;
  const listening = await listen(server, address);
  const url = (options.publicUrl ?? listening).replace(/\/$/, "");
  let closed: Promise<void> | undefined;
  const draining = new AbortController();
  // Each open stream adds a listener.
  setMaxListeners(0, draining.signal);
  const isDraining = (): boolean => draining.signal.aborted;
  try {
    app.use(oneAfterAnother());
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

/** Options of the handlers that come first in a binding. */
export interface FrontOptions extends RequestLogOptions {
  readonly authenticator: Authenticator;
  /** Returns middleware that counts requests. All bindings of an agent share one counter. */
  readonly limited: (answer: FaultWriter) => RequestHandler;
  /** The content types of bodies that the binding reads. */
  readonly types: readonly string[];
  readonly body: BodyLimits;
  readonly isDraining: () => boolean;
  readonly answer: FaultWriter;
  readonly onFailure: (error: unknown, what: string) => void;
}

/**
 * Returns the handlers that come first in every protocol, in order. They authenticate the client before they
 * read a body.
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
