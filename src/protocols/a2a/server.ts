import { setMaxListeners } from "node:events";
import { restHandler } from "@a2a-js/sdk/server/express";
import type { RequestHandler } from "express";
import type { Authenticator } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { AGENT, AUTHENTICATOR, assertParts, LOG } from "../../checks/kinds.js";
import { assertMembers } from "../../checks/members.js";
import { plainObject } from "../../checks/plain.js";
import { BODY_LIMITS, type BodyLimits } from "../../http/body.js";
import {
  authenticateAgain,
  callerOf,
  RATE_LIMIT,
  type RateLimit,
  rateLimiter,
} from "../../http/callers.js";
import type { ListenOptions } from "../../http/listen.js";
import { type AgentLog, failureLog } from "../../http/log.js";
import type { AgentMetrics } from "../../http/metrics.js";
import {
  front,
  type Mounted,
  type MountPoint,
  type ServeOptions,
  serve,
  TIMEOUT,
} from "../../http/serve.js";
import { ConcurrencyLimit } from "../../http/work.js";
import { agentPage } from "./agent-page.js";
import { BODY_TYPES, faultWriter } from "./answer.js";
import { ApprovalTasks, type ApprovalTasksOptions } from "./approval-tasks.js";
import { type BeforeOptions, before, MOST_STREAMS } from "./before.js";
import { AdmittedCalls } from "./call.js";
import { agentCard, type CardOptions, cardRoute, cardTexts } from "./card.js";
import type { Binding } from "./errors.js";
import { CapabilityExecutor } from "./executor.js";
import { DENIAL_HEADER, METHODS } from "./extension.js";
import { GuardedHandler } from "./guarded-handler.js";
import { jsonRpc } from "./json-rpc.js";
import { KeptTasks } from "./kept-tasks.js";
import { messageGate, skillGate } from "./message-gate.js";
import { routeOf } from "./outline.js";
import { calledMethod, ownMethods } from "./own-methods.js";
import { type PushOptions, PushSender } from "./push.js";
import { invokeMethod } from "./skill-methods.js";
import type { TaskRunner } from "./task-runner.js";
import { taskStreams } from "./task-stream.js";
import type { TaskStore } from "./tasks/task-store.js";
import { askedVersion } from "./version.js";

/** Options for serving an issuing agent over A2A. */
export interface A2AOptions {
  readonly agent: IssuingAgent;
  readonly authenticator: Authenticator;
  /** The parts of the card that describe this agent. */
  readonly card: CardOptions;
  /** The store of tasks, as returned by {@link openTaskStore}. */
  readonly tasks: TaskStore;
  /** Options for push notifications. Unless given, the agent sends none. */
  readonly push?: PushOptions;
  /** The URL of the approvals console, where people decide requests. */
  readonly verificationUri?: string | undefined;
  /** `true` to show browsers a page about the agent at `/`; `true` unless given. */
  readonly page?: boolean;
  /** Handles text messages. Without it, the agent accepts only calls of skills. */
  readonly runTask?: TaskRunner;
  readonly log: AgentLog;
  readonly metrics?: AgentMetrics | undefined;
  readonly body?: Partial<BodyLimits>;
  readonly rate?: RateLimit;
  /** Milliseconds that a skill or a task may take; 30,000 unless given. */
  readonly timeout?: number;
  /** Maximum number of calls and tasks of one caller that run at the same time; 128 unless given. */
  readonly mostRunning?: number;
  /** Maximum number of open event streams per caller; 128 unless given. */
  readonly mostStreams?: number;
}

/** Options of a server that only serves this agent. */
export interface AgentServerOptions
  extends A2AOptions,
    Partial<Pick<ServeOptions, "publicUrl" | "trustedProxies" | "grace" | "health">> {}

/** A running server of an issuing agent. */
export interface AgentServer {
  /** `http://127.0.0.1:PORT`, or the public address. */
  readonly url: string;
  readonly cardUrl: string;
  readonly rpcUrl: string;
  readonly restUrl: string;
  /** Stops accepting requests, finishes the pending requests, and releases the port. */
  close(): Promise<void>;
}

const CARD_PATH = "/.well-known/agent-card.json";
const RPC_PATH = "/a2a/jsonrpc";
const REST_PATH = "/a2a/rest";
const MOST_RUNNING = 128;
/**
 * Serves an issuing agent over A2A 1.0: JSON-RPC and HTTP+JSON, the Agent Card, `/healthz` and `/readyz`.
 *
 * @throws Error if the port is in use.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { openTaskStore, serveAgent } from "proviso/a2a";
 * import { createIssuingAgent, createPolicyTable } from "proviso/agent";
 * import { createFixedTokens } from "proviso/auth";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 * import { createStores, openLedger } from "proviso/stores";
 *
 * const folder = mkdtempSync(join(tmpdir(), "proviso-"));
 * const revocations = createRevocationList();
 * const database = await createStores(join(folder, "proviso.db"));
 * const ledger = openLedger(database);
 * const tasks = await openTaskStore(database);
 * const agent = await createIssuingAgent({
 *   issuer: createIssuer({
 *     name: "clock-agent",
 *     keys: createKeyring(),
 *     revocations,
 *     grants: [{ id: "clock:read", description: "Tell the time", operations: ["tell"] }],
 *   }),
 *   revocations,
 *   ledger,
 *   policy: createPolicyTable({
 *     rules: [{ principal: "alice", grant: "clock:read", operations: "*" }],
 *   }),
 *   skills: [
 *     {
 *       id: "tell_time",
 *       name: "Tell the time",
 *       description: "The year of the agent's clock",
 *       operation: "tell",
 *       reach: "none",
 *       input: { type: "object", additionalProperties: false },
 *       run: async () => ({ year: 2026 }),
 *     },
 *   ],
 * });
 * const token = "a-development-token";
 * const authenticator = createFixedTokens(
 *   [{ token, principal: "alice", invoker: "assistant" }],
 *   { development: true, announce: () => {} },
 * );
 * const log = { info() {}, warn() {}, error() {} };
 * const card = { name: "Clock", description: "Tells the time", version: "1.0.0" };
 * const server = await serveAgent({ agent, authenticator, card, tasks, log });
 *
 * const { capabilities } = await (await fetch(server.cardUrl)).json();
 * const { capabilityGrants, ambientAuthority } = capabilities.extensions[0].params;
 * capabilityGrants[0].id; // => "clock:read"
 * ambientAuthority; // => "refused"
 *
 * await server.close();
 * await tasks.close();
 * await ledger.close();
 * await database.close();
 * ```
 */
export async function serveAgent(
  options: AgentServerOptions,
  address: ListenOptions = {},
): Promise<AgentServer> {
  checkOptions(options);
  const { log, publicUrl, trustedProxies, timeout, grace, health } = options;
  const { url, mounted, close } = await serve(
    {
      publicUrl,
      trustedProxies,
      timeout,
      grace,
      health,
      answer: faultWriter("rest"),
      onFailure: failureLog(log),
    },
    address,
    (place) => mountA2A(options, place),
  );
  const { cardUrl, rpcUrl, restUrl } = mounted;
  return { url, cardUrl, rpcUrl, restUrl, close };
}

const PARTS = {
  agent: AGENT,
  authenticator: AUTHENTICATOR,
  log: LOG,
  tasks: ["begin", "a task store, as openTaskStore() gives it"],
} as const;
type RequiredName = keyof typeof PARTS | "card";
const OPTIONAL: { readonly [Name in Exclude<keyof AgentServerOptions, RequiredName>]: true } = {
  push: true,
  page: true,
  verificationUri: true,
  runTask: true,
  metrics: true,
  body: true,
  rate: true,
  timeout: true,
  mostRunning: true,
  mostStreams: true,
  publicUrl: true,
  trustedProxies: true,
  grace: true,
  health: true,
};

function checkOptions(options: AgentServerOptions): void {
  assertMembers(options, [...Object.keys(PARTS), "card", ...Object.keys(OPTIONAL)], "options");
  assertParts(options, PARTS);
  plainObject(options.card, "options.card");
  for (const name of ["name", "description", "version"] as const) {
    if (typeof options.card[name] === "string") continue;
    throw new TypeError(`options.card.${name}: must be a string`);
  }
}

/** A mounted issuing agent. */
export interface MountedA2A extends Mounted, Omit<AgentServer, "url" | "close"> {}

/** Mounts the A2A routes of an issuing agent on an app that may serve other protocols too. */
export function mountA2A(options: A2AOptions, place: MountPoint): MountedA2A {
  const { app, url, isDraining, draining } = place;
  const { agent, authenticator, log, metrics, timeout = TIMEOUT } = options;
  const { runTask, tasks, push, mostRunning = MOST_RUNNING } = options;
  const [rpcUrl, restUrl] = [`${url}${RPC_PATH}`, `${url}${REST_PATH}`];
  const onFailure = failureLog(log);
  const own = { ...options.card, pushes: push !== undefined };
  const card = agentCard(own, agent, authenticator, { jsonRpc: rpcUrl, rest: restUrl });
  const limit = new ConcurrencyLimit(mostRunning);
  const stopping = new AbortController();
  // Each run adds a listener to the signal, and removes it when the run ends.
  setMaxListeners(0, stopping.signal);
  const limits = { timeout, onFailure, stopping: stopping.signal };
  const sender = push === undefined ? undefined : new PushSender(push, onFailure);
  const executor = new CapabilityExecutor({ agent, tasks, runTask, ...limits });
  const stream = taskStreams({ tasks, draining, stopping: stopping.signal });
  const approvals = approvalTasks(agent, { tasks, push, sender, stream, ...limits });
  const inner = new KeptTasks({ agent, card, tasks, executor, push, sender, approvals, stream });
  const calls = new AdmittedCalls();
  const { userBuilder } = calls;
  const handler = new GuardedHandler({ agent, calls, inner, approvals, onFailure });
  const invoke = invokeMethod({ agent, calls, handler, ...limits });
  const gated: BeforeOptions = {
    agent,
    calls,
    handler,
    approvals,
    onFailure,
    verificationUri: options.verificationUri,
    messages: messageGate({ agent, tasks, limit, push }),
    skills: skillGate({ agent, limit }),
    methods: ownMethods(agent, options.verificationUri).set(METHODS.invoke, invoke),
    streams: new ConcurrencyLimit(options.mostStreams ?? MOST_STREAMS, "mostStreams"),
    tenants: false,
    histories: false,
    caller: callerOf,
    callerAgain: authenticateAgain(authenticator),
  };
  const limited = rateLimiter(options.rate ?? RATE_LIMIT);
  const beforeOf = (binding: Binding): readonly RequestHandler[] => [
    ...front({
      binding,
      log,
      metrics,
      isDraining,
      onFailure,
      authenticator,
      limited,
      denialHeader: DENIAL_HEADER,
      answer: faultWriter(binding),
      methodOf:
        binding === "jsonrpc" ? calledMethod : (req) => `${req.method} ${routeOf(req.path)}`,
      types: BODY_TYPES[binding],
      body: { ...BODY_LIMITS, ...options.body },
    }),
    askedVersion,
    before(gated, () => binding),
  ];

  app.get(CARD_PATH, cardRoute(cardTexts(card, agent)));
  const cardUrl = `${url}${CARD_PATH}`;
  if (options.page !== false) {
    app.get("/", agentPage(options.card, agent, { url, cardUrl, rpcUrl }));
  }
  app.use(RPC_PATH, ...beforeOf("jsonrpc"), jsonRpc({ handler, userBuilder, onFailure }));
  app.use(REST_PATH, ...beforeOf("rest"), restHandler({ requestHandler: handler, userBuilder }));
  const stop = async (): Promise<void> => {
    if (!stopping.signal.aborted && limit.running > 0) {
      log.warn({ running: limit.running }, "shutting down: ended what was still under way");
    }
    stopping.abort();
    await Promise.all([executor.settled(), approvals?.settled()]);
  };
  return { cardUrl, rpcUrl, restUrl, stop };
}

/** Returns the tasks that wait for approvals; `undefined` if the agent has no approvals. */
function approvalTasks(
  { parties }: IssuingAgent,
  options: Omit<ApprovalTasksOptions, "approvals">,
): ApprovalTasks | undefined {
  return parties && new ApprovalTasks({ approvals: parties.approvals, ...options });
}
