import type { RequestHandler } from "express";
import type { AgentMetrics } from "./metrics.js";

/** Answers whether the server takes requests: 200, or 503 while it drains. */
export function health(isDraining: () => boolean): RequestHandler {
  return (_req, res) => {
    const draining = isDraining();
    res.status(draining ? 503 : 200).json({ status: draining ? "draining" : "ok" });
  };
}

/** Answers with what is counted, in the text format of Prometheus; 404 if nothing is. */
export function metricsText(metrics: AgentMetrics | undefined): RequestHandler {
  return async (_req, res) => {
    if (metrics === undefined) return void res.status(404).json({ error: "not kept" });
    const { contentType, text } = await metrics.read();
    return void res.setHeader("Content-Type", contentType).send(text);
  };
}
