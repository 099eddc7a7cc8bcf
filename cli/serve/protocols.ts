import type { Authenticator } from "../../src/agent/caller.js";
import type { IssuingAgent } from "../../src/agent/issuing-agent.js";
import type { Ledger } from "../../src/agent/ledger.js";
import type { Parties } from "../../src/agent/parties/parties.js";
import type { PartyStore } from "../../src/agent/parties/store.js";
import type { Policy } from "../../src/agent/policy.js";
import { CONSOLE_PATH, mountConsole } from "../../src/console/console.js";
import type { Home } from "../../src/home/open-home.js";
import { type AgentLog, failureLog } from "../../src/http/log.js";
import type { AgentMetrics } from "../../src/http/metrics.js";
import { type Mounted, type MountPoint, serve } from "../../src/http/serve.js";
import type { HealthCheck } from "../../src/http/status.js";
import { checkProxies } from "../../src/http/trusted-proxies.js";
import type { AgentSkills } from "../../src/protocols/a2a/agent-module.js";
import { faultWriter } from "../../src/protocols/a2a/answer.js";
import { type A2AOptions, mountA2A } from "../../src/protocols/a2a/server.js";
import type { TaskStore } from "../../src/protocols/a2a/tasks/task-store.js";
import { type AgentAuthOptions, prepareAgentAuth } from "../../src/protocols/agent-auth/server.js";
import {
  type DelegationServerOptions,
  mountDelegation,
} from "../../src/protocols/delegation/server.js";
import { createRevocationFeed } from "../../src/protocols/revocations/feed.js";
import { mountRevocations } from "../../src/protocols/revocations/mount.js";
import type { AgentConfig, ProtocolName } from "./agent-config.js";
import { fromConfig } from "./config.js";
import type { ConsoleSettings } from "./console.js";
import type { Address } from "./settings.js";

/** The parts of an agent that all its protocols share, such as the agent itself and its health check. */
export interface AgentParts {
  readonly config: AgentConfig;
  /** The configuration file, for error messages. */
  readonly file: string;
  readonly agent: IssuingAgent;
  readonly parties: Parties;
  readonly partyStore: PartyStore;
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly authenticator: Authenticator;
  readonly tasks: TaskStore;
  readonly keys: Home["keys"];
  readonly revocations: Home["revocations"];
  /** `undefined` if the approvals console is not served. */
  readonly console: ConsoleSettings | undefined;
  /** Seconds for which services may trust the published revocation list; `undefined` for the default. */
  readonly feedMaxAge: number | undefined;
  readonly runTask: AgentSkills["runTask"];
  readonly log: AgentLog;
  /** `undefined` if metrics are not served. */
  readonly metrics: AgentMetrics | undefined;
  readonly health: HealthCheck;
}

/** A URL for the operator, with its name in the JSON output and its label in the text output. */
interface ProtocolAddress {
  readonly name: string;
  readonly label: string;
  readonly url: string;
}

interface MountedProtocol extends Mounted {
  readonly addresses: readonly ProtocolAddress[];
  /** Warnings for the operator when the agent starts, one sentence each. */
  readonly warnings?: readonly string[];
}

/** A protocol for clients of the agent. All protocols are mounted on the same port. */
type Protocol =
  | { mount(parts: AgentParts, place: MountPoint): MountedProtocol }
  /** Checks the options and loads packages before the agent listens. */
  | { prepare(parts: AgentParts): Promise<(place: MountPoint) => MountedProtocol> };

const PROTOCOLS: { readonly [Name in ProtocolName]: Protocol } = {
  a2a: {
    mount(parts, place) {
      const { cardUrl, rpcUrl, restUrl, stop } = mountA2A(a2aOptions(parts, place), place);
      const addresses = [
        { name: "cardUrl", label: "card", url: cardUrl },
        { name: "rpcUrl", label: "JSON-RPC", url: rpcUrl },
        { name: "restUrl", label: "HTTP+JSON", url: restUrl },
      ];
      return { addresses, stop };
    },
  },
  approvals: {
    mount({ config, agent, parties, ledger, console, log, metrics }, place) {
      if (console === undefined) throw new TypeError("the approvals console has no login");
      const { issuer, skills } = agent;
      const { name } = config;
      const parts = { name, issuer, parties, ledger, log, metrics, skills: skills.values() };
      const { approvalsUrl, warnings, stop } = mountConsole({ ...parts, ...console }, place);
      const addresses = [{ name: "approvalsUrl", label: "approvals", url: approvalsUrl }];
      return { addresses, warnings, stop };
    },
  },
  delegation: {
    mount(parts, place) {
      const { delegationUrl: url, stop } = mountDelegation(delegationOptions(parts), place);
      return { addresses: [{ name: "delegationUrl", label: "delegation", url }], stop };
    },
  },
  "agent-auth": {
    async prepare(parts) {
      const mount = await fromConfig(
        parts.file,
        () => prepareAgentAuth(agentAuthOptions(parts)),
        (words) => words.replace(/^options\b/, "agentAuth"),
      );
      return (place) => {
        const { discoveryUrl: url, stop } = mount(place);
        return { addresses: [{ name: "discoveryUrl", label: "Agent-Auth", url }], stop };
      };
    },
  },
  revocations: {
    mount({ keys, revocations, feedMaxAge: maxAge, log, metrics }, place) {
      const feed = createRevocationFeed({ keys, revocations, maxAge });
      const { feedUrl, stop } = mountRevocations({ feed, log, metrics }, place);
      return { addresses: [{ name: "revocationsUrl", label: "revocations", url: feedUrl }], stop };
    },
  },
};

export interface ServedAgent {
  readonly url: string;
  readonly addresses: readonly ProtocolAddress[];
  /** Warnings for the operator when the agent starts, one sentence each. */
  readonly warnings: readonly string[];
  /** Accepts no further requests, finishes the pending ones, and releases the port. */
  close(): Promise<void>;
}

/**
 * Serves an agent over the configured protocols, on one port.
 *
 * @throws CliError `config_invalid` if a protocol cannot be served with this configuration.
 * @throws Error if the port is in use.
 */
export async function serveProtocols(parts: AgentParts, address: Address): Promise<ServedAgent> {
  const { config, health, log } = parts;
  const { timeoutMs: timeout, graceMs: grace } = config.limits;
  const { publicUrl, trustedProxies } = config;
  const around = { publicUrl, trustedProxies, timeout, grace, health };
  const mounts = await Promise.all(
    config.protocols.map(async (name) => {
      const protocol: Protocol = PROTOCOLS[name];
      if ("prepare" in protocol) return protocol.prepare(parts);
      return (place: MountPoint) => protocol.mount(parts, place);
    }),
  );
  const mountAll = (place: MountPoint) => {
    const all = mounts.map((mount) => mount(place));
    return {
      addresses: all.flatMap(({ addresses }) => addresses),
      warnings: all.flatMap(({ warnings = [] }) => warnings),
      stop: async () => void (await Promise.all(all.map((one) => one.stop()))),
    };
  };
  await fromConfig(
    parts.file,
    () => checkProxies(trustedProxies),
    (words) => words.replace(/^options\./, ""),
  );
  const { url, mounted, close } = await serve(
    { ...around, answer: faultWriter("rest"), onFailure: failureLog(log) },
    address,
    mountAll,
  );
  const { addresses, warnings } = mounted;
  return { url, addresses, warnings, close };
}

function delegationOptions({ config, metrics, ...parts }: AgentParts): DelegationServerOptions {
  const { agent, authenticator, partyStore: parties, revocations, ledger, log } = parts;
  const { bodyBytes, bodyDepth, requests, seconds, revocations: maxRevocations } = config.limits;
  return {
    agent,
    authenticator,
    parties,
    revocations,
    ledger,
    log,
    metrics,
    maxRevocations,
    ...config.delegation,
    observe: (observation) => metrics?.decided(observation),
    body: { bytes: bodyBytes, depth: bodyDepth },
    rate: { requests, seconds },
  };
}

function agentAuthOptions(parts: AgentParts): AgentAuthOptions {
  const { config, agent, parties, policy, ledger, log, metrics } = parts;
  const { name, description, agentAuth = {} } = config;
  const { public: shown, verificationUrl, introspection } = agentAuth;
  const { bodyBytes, bodyDepth, timeoutMs: timeout, requests, seconds } = config.limits;
  return {
    agent,
    parties,
    policy,
    ledger,
    log,
    metrics,
    timeout,
    provider: { name, description },
    public: shown,
    verificationUrl,
    introspection,
    body: { bytes: bodyBytes, depth: bodyDepth },
    rate: { requests, seconds },
  };
}

function a2aOptions(parts: AgentParts, { url }: MountPoint): A2AOptions {
  const { config, agent, authenticator, tasks, runTask, log, metrics } = parts;
  const { name, description, version, delegates, collections, page, push } = config;
  const { bodyBytes, bodyDepth, timeoutMs, requests, seconds } = config.limits;
  return {
    agent,
    authenticator,
    log,
    metrics,
    tasks,
    page,
    card: {
      name,
      description,
      version,
      delegates,
      collections,
    },
    runTask,
    ...(parts.console === undefined ? {} : { verificationUri: `${url}${CONSOLE_PATH}` }),
    ...(push === undefined ? {} : { push: { store: tasks.pushConfigs, ...push } }),
    body: { bytes: bodyBytes, depth: bodyDepth },
    rate: { requests, seconds },
    timeout: timeoutMs,
  };
}
