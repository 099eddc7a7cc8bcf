import { createServer } from "node:http";
import { jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import express, { type Express } from "express";
import type { Authenticator } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { BODY_LIMITS, type BodyLimits, jsonBody } from "../../http/body.js";
import {
  authentication,
  callerOf,
  RATE_LIMIT,
  type RateLimit,
  rateLimiter,
} from "../../http/callers.js";
import { ConcurrencyLimit } from "../../http/concurrency-limit.js";
import { contentType } from "../../http/content-type.js";
import { fallback } from "../../http/fallback.js";
import { drain, type ListenOptions, listen, refuseWhileDraining } from "../../http/listen.js";
import { type AgentLog, loggable, requestLog } from "../../http/log.js";
import type { AgentMetrics } from "../../http/metrics.js";
import { type HealthCheck, health } from "../../http/status.js";
import { wellFormedBody } from "../../http/well-formed.js";
import type { TaskStore } from "../../stores/tasks/task-store.js";
import { faultWriter, plainId } from "./answer.js";
import { CallerUser, contextBuilder } from "./call-context.js";
import { agentCard, type CardOptions, cardTexts, type Interfaces } from "./card.js";
import { cardRoute } from "./card-route.js";
import type { Binding } from "./errors.js";
import { CapabilityExecutor, type TaskRunner } from "./executor.js";
import { DENIAL_HEADER } from "./extension.js";
import { extensionMethods } from "./extension-rpc.js";
import { ownErrors } from "./own-errors.js";
import { presentation, presentedOf } from "./presentation.js";
import type { PushOptions } from "./push-target.js";
import { CapabilityRequestHandler } from "./request-handler.js";
import { askedVersion } from "./version.js";

export interface AgentServerOptions {
  readonly agent: IssuingAgent;
  readonly authenticator: Authenticator;
  /** What the agent says of itself. */
  readonly card: CardOptions;
  /** Where tasks are kept: what {@link openTaskStore} gives. */
  readonly tasks: TaskStore;
  /** Lets callers subscribe a receiver to a task's progress; not offered unless given. */
  readonly push?: PushOptions;
  /** Makes sense of messages in words; without it, only calls of skills are understood. */
  readonly runTask?: TaskRunner;
  readonly log: AgentLog;
  readonly metrics?: AgentMetrics;
  /** What `/healthz` and `/readyz` answer by, beside whether the server drains. */
  readonly health?: HealthCheck;
  /** The address callers use, such as `https://agent.example`; the one listened at unless given. */
  readonly publicUrl?: string;
  readonly body?: Partial<BodyLimits>;
  readonly rate?: RateLimit;
  /** Milliseconds that a skill or a task may take; 30,000 unless given. */
  readonly timeout?: number;
  /** Milliseconds that requests under way have when the server closes; 10,000 unless given. */
  readonly grace?: number;
  /** How many calls and tasks of one caller may be under way at once; 128 unless given. */
  readonly mostRunning?: number;
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
/** What a body may be in each binding (A2A 1.0, sections 9.1 and 11.1). */
const BODY_TYPES: Readonly<Record<Binding, readonly string[]>> = {
  jsonrpc: ["application/json"],
  rest: ["application/json", "application/a2a+json"],
};

/**
 * Serves an issuing agent over A2A 1.0: JSON-RPC and HTTP+JSON, the Agent Card, `/healthz` and
 * `/readyz`.
 *
 * @throws Error if the port is taken.
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
  const app = express();
  const server = createServer(app);
  // A caller that sends slowly holds on to a connection no longer than this.
  server.requestTimeout = 15_000;
  server.headersTimeout = 10_000;
  // Nor does one that does not read its answers; while a skill runs there may be nothing to read.
  server.timeout = (options.timeout ?? DEFAULT_TIMEOUT) + 30_000;
  const listening = await listen(server, address);
  const url = (options.publicUrl ?? listening).replace(/\/$/, "");
  const places = { jsonRpc: `${url}${RPC_PATH}`, rest: `${url}${REST_PATH}` };
  let closed: Promise<void> | undefined;
  let stop: () => Promise<void>;
  try {
    stop = mount(app, options, places, () => closed !== undefined);
  } catch (error) {
    await drain(server);
    throw error;
  }
  return {
    url,
    cardUrl: `${url}${CARD_PATH}`,
    rpcUrl: places.jsonRpc,
    restUrl: places.rest,
    close: () => {
      closed ??= drain(server, { grace: options.grace, overdue: stop }).finally(stop);
      return closed;
    },
  };
}

function mount(
  app: Express,
  options: AgentServerOptions,
  places: Interfaces,
  isDraining: () => boolean,
): () => Promise<void> {
  const { agent, authenticator, log, metrics, timeout = DEFAULT_TIMEOUT } = options;
  const onFailure = (error: unknown, what: string): void => {
    log.error({ ...loggable(error), what }, "failure");
  };
  const pushes = options.push !== undefined;
  const card = agentCard({ ...options.card, pushes }, agent, authenticator, places);
  const { runTask, tasks, push, mostRunning = MOST_RUNNING } = options;
  const limit = new ConcurrencyLimit(mostRunning);
  const stopping = new AbortController();
  const executor = new CapabilityExecutor({
    ...{ agent, tasks, runTask, timeout, onFailure, stopping: stopping.signal },
  });
  const handler = new CapabilityRequestHandler({
    ...{ agent, card, tasks, executor, limit, push, onFailure },
  });
  const body = { ...BODY_LIMITS, ...options.body };
  const limited = rateLimiter(options.rate ?? RATE_LIMIT);
  const guards = (binding: Binding) => {
    const answer = faultWriter(binding);
    const isRpc = binding === "jsonrpc";
    return [
      requestLog({
        ...{ binding, log, metrics, denialHeader: DENIAL_HEADER },
        ...(isRpc ? { methodOf: (req) => req.body?.method } : {}),
      }),
      refuseWhileDraining(isDraining, answer),
      // Authenticate and count the caller before reading the body.
      authentication(authenticator, answer, onFailure),
      limited(answer),
      askedVersion,
      contentType(BODY_TYPES[binding], answer),
      ...jsonBody(BODY_TYPES[binding], body, answer),
      ...(isRpc ? [plainId(answer)] : []),
      wellFormedBody(answer),
      presentation(binding, agent.issuer),
    ];
  };
  const userBuilder = async (req: express.Request): Promise<CallerUser> =>
    new CallerUser(callerOf(req), presentedOf(req));

  app.disable("x-powered-by");
  app.disable("etag");
  app.get(CARD_PATH, cardRoute(cardTexts(card, agent)));
  app.get(["/healthz", "/readyz"], health(isDraining, options.health));
  app.use(
    RPC_PATH,
    ...guards("jsonrpc"),
    extensionMethods({ agent, handler, limit, timeout, onFailure, stopping: stopping.signal }),
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
  app.use(...fallback(faultWriter("rest"), onFailure));
  return async () => {
    if (!stopping.signal.aborted && limit.running > 0) {
      log.warn({ running: limit.running }, "shutting down: ended what was still under way");
    }
    stopping.abort();
    await executor.settled();
  };
}
