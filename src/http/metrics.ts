import type { Counter, Histogram, Registry } from "prom-client";
import type { Observation } from "../agent/ledger.js";
import { notA } from "../checks/kinds.js";
import { optionalPackage } from "./optional-package.js";

/** The state of a revocation list. */
export interface RevocationGauge {
  /** The number of entries in the list. */
  readonly size: number;
  /** The version of the list, which only grows. */
  readonly version: number;
  /** Seconds since the list was last known to be current. */
  readonly age: number;
}

const SECONDS = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5,
];

/** The metrics of an agent, made by {@link createAgentMetrics}. */
export class AgentMetrics {
  readonly #registry: Registry;
  readonly #decisions: Counter<"kind" | "decision" | "code" | "authority">;
  readonly #deciding: Histogram<"kind">;
  readonly #requests: Histogram<"binding" | "status">;

  /**
   * @param revocations - Returns the state of the revocation list each time the metrics are read; `undefined`
   *   if there is no list.
   * @throws Error if the package `prom-client` is not installed.
   */
  constructor(revocations?: () => RevocationGauge) {
    const prometheus = optionalPackage("prom-client", "counting for Prometheus");
    const { Counter, Gauge, Histogram, Registry } = prometheus as typeof import("prom-client");
    this.#registry = new Registry();
    const registers = [this.#registry];
    this.#decisions = new Counter({
      name: "proviso_decisions_total",
      help: "Decisions by kind, outcome, first denial code and authority",
      labelNames: ["kind", "decision", "code", "authority"],
      registers,
    });
    this.#deciding = new Histogram({
      name: "proviso_decision_seconds",
      help: "How long it took to decide",
      labelNames: ["kind"],
      buckets: SECONDS,
      registers,
    });
    this.#requests = new Histogram({
      name: "proviso_request_seconds",
      help: "How long requests took, by binding and HTTP status",
      labelNames: ["binding", "status"],
      buckets: SECONDS,
      registers,
    });
    if (revocations === undefined) return;
    if (typeof revocations !== "function") throw notA("revocations", "a function", revocations);
    const gauge = (name: string, help: string, of: keyof RevocationGauge): void => {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(revocations()[of]);
        },
      });
    };
    gauge("proviso_revocation_entries", "Entries of the revocation list", "size");
    gauge("proviso_revocation_version", "Version of the revocation list", "version");
    gauge("proviso_revocation_age_seconds", "Age of the revocation list", "age");
  }

  /** Counts one decision. */
  decided({ kind, decision, code = "", authority, seconds }: Observation): void {
    this.#decisions.inc({ kind, decision, code, authority: authority ?? "" });
    this.#deciding.observe({ kind }, seconds);
  }

  /** Counts one request. `seconds` is its duration. */
  answered(binding: string, status: number, seconds: number): void {
    this.#requests.observe({ binding, status: String(status) }, seconds);
  }

  /** Returns all metrics as `GET /metrics` answers them. */
  async read(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

/**
 * Creates the metrics of an agent. They have Prometheus's text format.
 *
 * @param revocations - Returns the state of the revocation list each time the metrics are read; `undefined` if
 *   there is no list.
 * @throws TypeError if `revocations` is not a function.
 * @throws Error if the package `prom-client` is not installed.
 *
 * @example
 * ```ts
 * import { createAgentMetrics } from "proviso/a2a";
 *
 * const metrics = createAgentMetrics();
 * metrics.decided({ kind: "invocation", decision: "refused", code: "expired", seconds: 0.0002 });
 * const { text } = await metrics.read();
 * text.includes('decision="refused",code="expired",authority=""} 1'); // => true
 * ```
 */
export function createAgentMetrics(revocations?: () => RevocationGauge): AgentMetrics {
  return new AgentMetrics(revocations);
}
