import { createServer } from "node:http";
import type { RequestHandler } from "express";
import { assertHas } from "../checks/kinds.js";
import { drain, type ListenOptions, listen } from "./listen.js";
import type { AgentMetrics } from "./metrics.js";

/** Finds what keeps an agent from its work now, as stable codes without secrets; empty if nothing does. */
export type HealthCheck = () => Promise<readonly string[]>;

/** Answers that the process lives, whatever it needs is doing: who restarts it mends no database. */
export const alive: RequestHandler = (_req, res) => void res.json({ status: "ok" });

/** Answers whether the server should get calls: 200, or 503 with what is wrong, or while it drains. */
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

/** An address at which counts are read. */
export interface MetricsServer {
  /** Such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

const PATH = "/metrics";

/**
 * Serves Prometheus's text at an address of its own, without login: callers must not reach it.
 *
 * @throws TypeError for metrics or an address of another kind.
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
