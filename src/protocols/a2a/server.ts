import { createServer, type Server } from "node:http";
import type { TaskStore } from "@a2a-js/sdk/server";
import { jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import type { Authenticator } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { answerFault, BODY_LIMITS, type BodyLimits, jsonBody } from "./body.js";
import { CallerUser, contextBuilder } from "./call-context.js";
import { authentication, callerOf, RATE_LIMIT, type RateLimit, rateLimiter } from "./callers.js";
import { agentCard, type CardOptions, cardTexts, type Interfaces } from "./card.js";
import { cardRoute } from "./card-route.js";
import { contentType } from "./content-type.js";
import { type Binding, fault } from "./errors.js";
import { CapabilityExecutor, type TaskRunner } from "./executor.js";
import { ERROR_CODES } from "./extension.js";
import { extensionMethods } from "./extension-rpc.js";
import { type AgentLog, loggable, requestLog } from "./log.js";
import type { AgentMetrics } from "./metrics.js";
import { ownErrors } from "./own-errors.js";
import { CapabilityRequestHandler, type PushOptions } from "./request-handler.js";
import { ShieldedRequestHandler } from "./shielded-handler.js";
import { Slots } from "./slots.js";
import { refuseUnread } from "./unread.js";
import { askedVersion } from "./version.js";
import { wellFormedBody } from "./well-formed.js";

export interface AgentServerOptions {
  readonly agent: IssuingAgent;
  readonly authenticator: Authenticator;
  /** What the agent says of itself. */
  readonly card: CardOptions;
  /** Where tasks are kept, such as {@link openTaskStore} gives. */
  readonly tasks: TaskStore;
  /** Lets callers ask to be told of a task's progress; not possible unless given. */
  readonly push?: PushOptions;
  /** Makes sense of messages in words; without it, only calls of skills are understood. */
  readonly runTask?: TaskRunner;
  readonly log: AgentLog;
  readonly metrics?: AgentMetrics;
  /** The address callers use, such as `https://agent.example`; the one listened at unless given. */
  readonly publicUrl?: string;
  readonly body?: Partial<BodyLimits>;
  readonly rate?: RateLimit;
  /** Milliseconds that a skill or a task may take; 30,000 unless given. */
  readonly timeout?: number;
  /** How many calls and tasks of one caller may be under way at once; 128 unless given. */
  readonly mostRunning?: number;
}

/** An address to listen at. */
export interface ListenOptions {
  /** 0 for any free one, which is the default. */
  readonly port?: number;
  /** `127.0.0.1` unless given. */
  readonly host?: string;
}

/** An issuing agent that is being served. */
export interface AgentServer {
  /** `http://127.0.0.1:PORT`, or the public address. */
  readonly url: string;
  readonly cardUrl: string;
  readonly rpcUrl: string;
  readonly restUrl: string;
  /** Takes no more requests, finishes those under way, and lets go of the port. */
  close(): Promise<void>;
}

const CARD_PATH = "/.well-known/agent-card.json";
const RPC_PATH = "/a2a/jsonrpc";
const REST_PATH = "/a2a/rest";
const DEFAULT_TIMEOUT = 30_000;
const MOST_RUNNING = 128;
/** Milliseconds that requests under way have when the server closes. */
const GRACE = 10_000;

/**
 * Serves an issuing agent over A2A 1.0: JSON-RPC and HTTP+JSON, the Agent Card, `/healthz` and
 * `/metrics`.
 *
 * @throws Error if the port is taken.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { openTaskStore, serveAgent } from "proviso/a2a";
 * import { createIssuingAgent, PolicyTable } from "proviso/agent";
 * import { createFixedTokens } from "proviso/auth";
 * import { createIssuer, createKeyring, RevocationList } from "proviso/issuer";
 * import { openLedger } from "proviso/stores";
 *
 * const folder = mkdtempSync(join(tmpdir(), "proviso-"));
 * const revocations = new RevocationList();
 * const ledger = await openLedger(join(folder, "ledger.db"));
 * const tasks = await openTaskStore(join(folder, "tasks.db"));
 * const agent = await createIssuingAgent({
 *   issuer: createIssuer({
 *     name: "clock-agent",
 *     keys: createKeyring(),
 *     revocations,
 *     grants: [{ id: "clock:read", description: "Tell the time", operations: ["tell"] }],
 *   }),
 *   revocations,
 *   ledger,
 *   policy: new PolicyTable({
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
 * tasks.close();
 * ledger.close();
 * ```
 */
export async function serveAgent(
  options: AgentServerOptions,
  { port = 0, host = "127.0.0.1" }: ListenOptions = {},
): Promise<AgentServer> {
  const app = express();
  const server = createServer(app);
  // A caller that sends slowly holds on to a connection no longer than this.
  server.requestTimeout = 15_000;
  server.headersTimeout = 10_000;
  // Nor does one that does not read its answers; while a skill runs there may be nothing to read.
  server.timeout = (options.timeout ?? DEFAULT_TIMEOUT) + 30_000;
  await listening(server, port, host);
  const url = (options.publicUrl ?? addressOf(server, host)).replace(/\/$/, "");
  const places = { jsonRpc: `${url}${RPC_PATH}`, rest: `${url}${REST_PATH}` };
  let closed: Promise<void> | undefined;
  let executor: CapabilityExecutor;
  try {
    executor = mount(app, options, places, () => closed !== undefined);
  } catch (error) {
    await closing(server);
    throw error;
  }
  return {
    url,
    cardUrl: `${url}${CARD_PATH}`,
    rpcUrl: places.jsonRpc,
    restUrl: places.rest,
    close: () => {
      closed ??= closing(server).finally(() => executor.abortAll());
      return closed;
    },
  };
}

function mount(
  app: Express,
  options: AgentServerOptions,
  places: Interfaces,
  isDraining: () => boolean,
): CapabilityExecutor {
  const { agent, authenticator, log, metrics, timeout = DEFAULT_TIMEOUT } = options;
  const onFailure = (error: unknown, what: string): void => {
    log.error({ ...loggable(error), what }, "failure");
  };
  const pushes = options.push !== undefined;
  const card = agentCard({ ...options.card, pushes }, agent, authenticator, places);
  const { runTask, tasks, push, mostRunning = MOST_RUNNING } = options;
  const slots = new Slots(mostRunning);
  const executor = new CapabilityExecutor({ agent, runTask, timeout, onFailure });
  const gated = new CapabilityRequestHandler(agent, card, tasks, executor, slots, push, onFailure);
  const handler = new ShieldedRequestHandler(gated, onFailure);
  const body = { ...BODY_LIMITS, ...options.body };
  const limited = rateLimiter(options.rate ?? RATE_LIMIT);
  const guards = (binding: Binding) => [
    requestLog(binding, log, metrics),
    whileOpen(binding, isDraining),
    // Nobody is read out before it is known who calls, and how often.
    authentication(binding, authenticator, onFailure),
    limited(binding),
    askedVersion,
    contentType(binding),
    ...jsonBody(binding, body),
    wellFormedBody(binding),
    refuseUnread(binding, agent.issuer),
  ];
  const userBuilder = async (req: express.Request): Promise<CallerUser> =>
    new CallerUser(callerOf(req));

  app.disable("x-powered-by");
  app.disable("etag");
  app.get(CARD_PATH, cardRoute(cardTexts(card, agent)));
  app.get("/healthz", (_req, res) => {
    const draining = isDraining();
    res.status(draining ? 503 : 200).json({ status: draining ? "draining" : "ok" });
  });
  app.get("/metrics", async (_req, res) => {
    if (metrics === undefined) return void res.status(404).json({ error: "not kept" });
    const { contentType, text } = await metrics.read();
    return void res.setHeader("Content-Type", contentType).send(text);
  });
  app.use(
    RPC_PATH,
    ...guards("jsonrpc"),
    extensionMethods({ agent, handler, slots, timeout, onFailure }),
    ownErrors("jsonrpc"),
    jsonRpcHandler({
      requestHandler: handler,
      userBuilder,
      contextBuilder: contextBuilder("jsonrpc"),
    }),
  );
  app.use(
    REST_PATH,
    ...guards("rest"),
    ownErrors("rest"),
    restHandler({ requestHandler: handler, userBuilder, contextBuilder: contextBuilder("rest") }),
  );
  app.use((_req, res) => {
    res.status(404).json({ error: { code: 404, status: "NOT_FOUND", message: "not found" } });
  });
  const last: ErrorRequestHandler = (error, _req, res, next) => {
    if (error instanceof URIError && !res.headersSent) {
      const message = "the address can not be decoded";
      return answerFault(res, "rest", fault(-32600, message, "invalid_request"), undefined);
    }
    onFailure(error, "request");
    if (res.headersSent) return next(error);
    return answerFault(res, "rest", fault(-32603, "internal error", "internal_error"), undefined);
  };
  app.use(last);
  return executor;
}

/** Answers 503 to what still comes by connections that are open while the server closes. */
function whileOpen(binding: Binding, isDraining: () => boolean): RequestHandler {
  return (_req, res, next) => {
    if (!isDraining()) return next();
    res.setHeader("Connection", "close");
    const message = "the agent is shutting down";
    return answerFault(
      res,
      binding,
      fault(ERROR_CODES.unavailable, message, "unavailable"),
      undefined,
    );
  };
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function closing(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    const force = setTimeout(() => server.closeAllConnections(), GRACE);
    // Connections are kept for more requests: those under way are let go of once they are answered.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    server.close((error) => {
      clearTimeout(force);
      clearInterval(idle);
      if (error === undefined) resolve();
      else reject(error);
    });
    server.closeIdleConnections();
  });
}
