import type { RequestHandler } from "express";
import { BODY_LIMITS } from "../../http/body.js";
import { callerOf, rateLimiter } from "../../http/callers.js";
import type { FaultWriter } from "../../http/fault.js";
import { DENIAL_HEADER } from "../../http/headers.js";
import { type AgentLog, failureLog } from "../../http/log.js";
import type { AgentMetrics } from "../../http/metrics.js";
import { front, type Mounted, type MountPoint } from "../../http/serve.js";
import { faultBody } from "./answer.js";
import type { RevocationFeed } from "./feed.js";
import { FEED_PATH, NONCE_HEADER, PAGE_PARAMETER } from "./statement.js";

/** A feed, and the log for its requests. */
export interface MountRevocationsOptions {
  readonly feed: RevocationFeed;
  readonly log: AgentLog;
  readonly metrics?: AgentMetrics | undefined;
}

/** A mounted feed. */
export interface MountedRevocations extends Mounted {
  readonly feedUrl: string;
}

/**
 * Rate limit of each service key. By default, a service sends two requests a minute, and one more for each page
 * that it does not have.
 */
const RATE = { requests: 600, seconds: 60 };

/** Mounts a revocation feed on an app that may serve other protocols too. */
export function mountRevocations(
  { feed, log, metrics }: MountRevocationsOptions,
  { app, url, isDraining }: MountPoint,
): MountedRevocations {
  const before = front({
    binding: "revocations",
    denialHeader: DENIAL_HEADER,
    log,
    metrics,
    authenticator: feed.authenticator,
    limited: rateLimiter(RATE),
    isDraining,
    answer,
    types: ["application/json"],
    body: BODY_LIMITS,
    onFailure: failureLog(log),
  });
  const send: RequestHandler = async (req, res) => {
    const { status, headers, body } = await feed.answer(callerOf(req).invoker, {
      known: req.get("If-None-Match"),
      nonce: req.get(NONCE_HEADER),
      page: new URL(req.originalUrl, url).searchParams.get(PAGE_PARAMETER) ?? undefined,
    });
    res.writeHead(status, headers).end(body);
  };
  app.get(FEED_PATH, ...before, send);
  return { feedUrl: `${url}${FEED_PATH}`, stop: async () => {} };
}

const answer: FaultWriter = (res, { status, reason, message, retryAfter }) => {
  if (retryAfter !== undefined) res.setHeader("Retry-After", String(retryAfter));
  res.setHeader("Cache-Control", "no-store");
  res
    .status(status)
    .type("json")
    .send(faultBody(status, reason, message));
};
