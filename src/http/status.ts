import { createServer } from "node:http";
import type { RequestHandler } from "express";
import { assertHas } from "../checks/kinds.js";
import { drain, type ListenOptions, listen } from "./listen.js";
import type { AgentMetrics } from "./metrics.js";

/**
 * Returns the problems that keep an agent from working, as stable codes without secrets; an empty array if
 * there are none.
 */
export type HealthCheck = () => Promise<readonly string[]>;

/**
 * Answers that the process is alive. The state of its database does not matter, since a restart would not
 * repair it.
 */
export const alive: RequestHandler = (_req, res) => void res.json({ status: "ok" });

/**
 * Returns a handler that says whether the server should get requests. It answers 200, or 503 if there are
 * problems or the server drains.
 */
export function readiness(
  isDraining: () => boolean,
  check: HealthCheck = async () => [],
): RequestHandler {
  return async (_req, res) => {
    if (isDraining()) return void res.status(503).json({ status: "draining" });
    const problems = await check().catch(() => ["check_failed"]);
    if (problems.length === 0) return void res.json({ status: "ok" });
    return void res.status(503).json({ status: "failing", problems });
  };
}

/** A running server of metrics. */
export interface MetricsServer {
  /** The URL, such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

const PATH = "/metrics";

/**
 * Serves Prometheus metrics on a separate port without authentication. The agent's clients must not be able to
 * reach this port.
 *
 * @throws TypeError if the metrics or the address have the wrong type.
 * @throws Error if the port is taken.
 */
export async function serveMetrics(
  metrics: AgentMetrics,
  address: ListenOptions = {},
): Promise<MetricsServer> {
  assertHas(metrics, ["read", "metrics, as createAgentMetrics() gives them"], "metrics");
  const server = createServer(async (req, res) => {
    if (req.url?.split("?")[0] !== PATH || (req.method !== "GET" && req.method !== "HEAD")) {
      res.writeHead(404).end();
      return;
    }
    const { contentType, text } = await metrics.read();
    res.writeHead(200, { "Content-Type": contentType }).end(req.method === "HEAD" ? "" : text);
  });
  const url = await listen(server, address);
  return { url: `${url}${PATH}`, close: () => drain(server) };
}
