import type { Authenticator } from "../../src/agent/caller.js";
import type { IssuingAgent } from "../../src/agent/issuing-agent.js";
import type { AgentLog } from "../../src/http/log.js";
import type { AgentMetrics } from "../../src/http/metrics.js";
import type { HealthCheck } from "../../src/http/status.js";
import type { AgentSkills } from "../../src/protocols/a2a/agent-module.js";
import {
  type AgentServer,
  type AgentServerOptions,
  serveAgent,
} from "../../src/protocols/a2a/server.js";
import type { TaskStore } from "../../src/stores/tasks/task-store.js";
import type { AgentConfig, ProtocolName } from "./agent-config.js";
import type { Address } from "./settings.js";

/** What a protocol gets of the agent that is served: one agent, one ledger and one list for all. */
export interface AgentParts {
  readonly config: AgentConfig;
  readonly agent: IssuingAgent;
  readonly authenticator: Authenticator;
  readonly tasks: TaskStore;
  readonly runTask: AgentSkills["runTask"];
  readonly log: AgentLog;
  readonly metrics: AgentMetrics;
  readonly health: HealthCheck;
}

/** A protocol in which callers reach the agent. */
interface Protocol {
  /** @throws Error if the port is taken. */
  serve(parts: AgentParts, address: Address): Promise<AgentServer>;
}

const PROTOCOLS: { readonly [Name in ProtocolName]: Protocol } = {
  a2a: { serve: (parts, address) => serveAgent(a2aOptions(parts), address) },
};

/** Serves an agent in the protocols of its configuration. */
export function serveProtocols(parts: AgentParts, address: Address): Promise<AgentServer> {
  // The schema has one name, so there is one: a second needs one app for both.
  const [name] = parts.config.protocols;
  return PROTOCOLS[name].serve(parts, address);
}

function a2aOptions({ config, tasks, runTask, ...parts }: AgentParts): AgentServerOptions {
  const { name, description, version, publicUrl, push } = config;
  const { bodyBytes, bodyDepth, timeoutMs, graceMs, requests, seconds } = config.limits;
  return {
    ...parts,
    ...{ tasks, card: { name, description, version } },
    ...(runTask === undefined ? {} : { runTask }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(push === undefined ? {} : { push: { store: tasks.pushConfigs, ...push } }),
    ...{ body: { bytes: bodyBytes, depth: bodyDepth }, rate: { requests, seconds } },
    ...{ timeout: timeoutMs, grace: graceMs },
  };
}
