import { setMaxListeners } from "node:events";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Ledger } from "../../agent/ledger.js";
import type { Parties } from "../../agent/parties/parties.js";
import type { CapabilityTerms } from "../../agent/parties/terms.js";
import type { Policy } from "../../agent/policy.js";
import { AGENT, assertParts, LEDGER, LOG, PARTIES, POLICY } from "../../checks/kinds.js";
import { assertMembers, meant } from "../../checks/members.js";
import { plainObject } from "../../checks/plain.js";
import { BODY_LIMITS, type BodyLimits } from "../../http/body.js";
import { RATE_LIMIT, type RateLimit } from "../../http/callers.js";
import type { ListenOptions } from "../../http/listen.js";
import { type AgentLog, failureLog } from "../../http/log.js";
import type { AgentMetrics } from "../../http/metrics.js";
import {
  type Mounted,
  type MountPoint,
  type ServeOptions,
  serve,
  TIMEOUT,
} from "../../http/serve.js";
import { ConcurrencyLimit } from "../../http/work.js";
import { DISCOVERY_PATHS, discoveryDocument, type Provider } from "./discovery.js";
import { outputChecks } from "./executing.js";
import { mountRoutes } from "./routes.js";
import { faultWriter } from "./send-fault.js";

/** Options for serving an issuing agent and its parties over Agent-Auth. */
export interface AgentAuthOptions {
  /** The agent, created with the parties: `createIssuingAgent({ parties, … })`. */
  readonly agent: IssuingAgent;
  /** The parties, created with `terms`: `capabilityTerms(agent.grants, agent.skills)`. */
  readonly parties: Parties;
  /** The agent's policy. */
  readonly policy: Policy;
  /** The agent's ledger, which also records refused requests. */
  readonly ledger: Ledger;
  /** The provider's description of itself in the discovery document. */
  readonly provider: Provider;
  /** Names of the capabilities shown without credentials, or `*` for all; none unless given. */
  readonly public?: readonly string[] | "*";
  /** The URL where the user enters a user code; `/approvals/device` on this server unless given. */
  readonly verificationUrl?: string;
  readonly log: AgentLog;
  readonly metrics?: AgentMetrics | undefined;
  readonly body?: Partial<BodyLimits>;
  /**
   * Rate limit of each active party of a linked host. All other parties at one IP address together have the same limit.
   */
  readonly rate?: RateLimit;
  /**
   * Rate limit of one IP address for introspection, which needs no credentials (section 5.12); 30 requests in 60
   * seconds unless given. A resource server that introspects the JWT of every call needs a higher limit.
   */
  readonly introspection?: RateLimit;
  /** Milliseconds that a skill may take; 30,000 unless given. */
  readonly timeout?: number;
  /** Maximum number of executions of one agent that run at once; 32 unless given. */
  readonly mostRunning?: number;
  /** Returns the time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
}

/** Options of a server that serves nothing but this agent. */
export interface AgentAuthServerOptions
  extends AgentAuthOptions,
    Partial<Pick<ServeOptions, "publicUrl" | "trustedProxies" | "grace" | "health">> {}

/** A mounted issuing agent. */
export interface MountedAgentAuth extends Mounted {
  /** The URL of the discovery document. */
  readonly discoveryUrl: string;
}

/** A running server of an issuing agent. */
export interface AgentAuthServer {
  /**
   * The public URL, which is the issuer in the discovery document. By default, the URL at which the server listens,
   * such as `http://127.0.0.1:PORT`.
   */
  readonly url: string;
  readonly discoveryUrl: string;
  /** Accepts no more requests, finishes pending ones, and releases the port. */
  close(): Promise<void>;
}

const MOST_RUNNING = 32;
/** The limit of section 8.13 for clients without credentials. */
const INTROSPECTION: RateLimit = { requests: 30, seconds: 60 };

const PARTS = { agent: AGENT, parties: PARTIES, policy: POLICY, ledger: LEDGER, log: LOG };
const OPTIONAL = [
  "public",
  "verificationUrl",
  "metrics",
  "body",
  "rate",
  "introspection",
  "timeout",
  "mostRunning",
  "clock",
];

/**
 * Serves an issuing agent over Agent-Auth 1.0-draft, with `/healthz` and `/readyz`.
 *
 * @throws TypeError if an option is wrong.
 * @throws Error if the port is in use, or a needed package is not installed.
 */
export async function serveAgentAuth(
  options: AgentAuthServerOptions,
  address: ListenOptions = {},
): Promise<AgentAuthServer> {
  const { publicUrl, trustedProxies, grace, health, ...own } = plainObject(options, "options");
  const mount = await prepareAgentAuth(own);
  const { url, mounted, close } = await serve(
    {
      publicUrl,
      trustedProxies,
      timeout: own.timeout,
      grace,
      health,
      answer: faultWriter(),
      onFailure: failureLog(own.log),
    },
    address,
    mount,
  );
  return { url, discoveryUrl: mounted.discoveryUrl, close };
}

/**
 * Checks the options, and loads the needed packages.
 *
 * @returns A function that mounts the protocol on an app. The app may serve other protocols, too.
 * @throws TypeError naming the option that is wrong, or the capability whose output schema is wrong.
 * @throws Error if `ajv`, `jose` or `@noble/curves` is not installed.
 */
export async function prepareAgentAuth(
  options: AgentAuthOptions,
): Promise<(place: MountPoint) => MountedAgentAuth> {
  const terms = checkOptions(options);
  const outputs = await outputChecks(terms);
  await Promise.all([import("jose"), import("@noble/curves/ed25519.js")]);
  const { agent, parties, ledger, log, metrics } = options;
  const { timeout = TIMEOUT, mostRunning = MOST_RUNNING, clock = Date.now } = options;
  const shown: ReadonlySet<string> = new Set(
    options.public === "*" ? terms.keys() : (options.public ?? []),
  );
  const limit = new ConcurrencyLimit(mostRunning);
  const stopping = new AbortController();
  // Each execution adds a listener to this signal, and removes it when the execution ends.
  setMaxListeners(0, stopping.signal);
  return (place) => {
    const { url } = place;
    const document = discoveryDocument(url, options.provider, parties.settings.modes);
    const { verificationUrl = `${url}/approvals/device` } = options;
    mountRoutes(
      {
        agent,
        parties,
        terms,
        shown,
        policy: options.policy,
        issuer: agent.issuer,
        ledger,
        outputs,
        limit,
        timeout,
        stopping: stopping.signal,
        clock,
        verificationUrl,
        url,
        log,
        metrics,
        onFailure: failureLog(log),
        document,
        listed: { document, ...listedBy(options.provider, terms, shown, url) },
        body: { ...BODY_LIMITS, ...options.body },
        rate: options.rate ?? RATE_LIMIT,
        introspection: options.introspection ?? INTROSPECTION,
        locations: locationsOf(terms),
      },
      place,
    );
    return {
      discoveryUrl: `${url}${DISCOVERY_PATHS[0]}`,
      stop: async () => {
        if (!stopping.signal.aborted && limit.running > 0) {
          log.warn({ running: limit.running }, "shutting down: ended what was still under way");
        }
        stopping.abort();
      },
    };
  };
}

/** Returns the entry for this server in the directory. */
function listedBy(
  provider: Provider,
  terms: CapabilityTerms,
  shown: ReadonlySet<string>,
  url: string,
): Provider {
  const capabilities = [...terms.values()].filter(({ name }) => shown.has(name));
  const words = capabilities.map(({ name, description }) => `${name} ${description}`);
  return {
    name: `${provider.name} ${new URL(url).hostname}`,
    description: [provider.description, ...words].join(" "),
  };
}

function locationsOf(terms: CapabilityTerms): ReadonlyMap<string, string> {
  const located = [...terms.values()].flatMap(({ name, location }) =>
    location === undefined ? [] : [[name, location] as const],
  );
  return new Map(located);
}

/** @throws TypeError naming the option that is wrong. */
function checkOptions(options: AgentAuthOptions): CapabilityTerms {
  assertMembers(options, [...Object.keys(PARTS), "provider", ...OPTIONAL], "options");
  assertParts(options, PARTS);
  const { provider, public: shown = [], verificationUrl } = options;
  const { terms } = options.parties;
  if (terms === undefined) {
    throw new TypeError("options.parties: must know what can be asked for: new Parties({ terms })");
  }
  assertMembers(provider, ["name", "description"], "options.provider");
  for (const name of ["name", "description"] as const) {
    if (typeof provider[name] === "string" && provider[name] !== "") continue;
    throw new TypeError(`options.provider.${name}: must be a non-empty string`);
  }
  if (shown !== "*") {
    if (!Array.isArray(shown)) throw new TypeError('options.public: must be an array, or "*"');
    for (const [at, name] of shown.entries()) {
      if (terms.has(name)) continue;
      const hint = meant(String(name), [...terms.keys()]);
      throw new TypeError(`options.public[${at}]: there is no capability "${name}"${hint}`);
    }
  }
  if (verificationUrl !== undefined && !URL.canParse(verificationUrl)) {
    throw new TypeError("options.verificationUrl: must be a URL");
  }
  return terms;
}
