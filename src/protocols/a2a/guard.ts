import type { A2ARequestHandler, User } from "@a2a-js/sdk/server";
import { type Request, type RequestHandler, Router } from "express";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { assertMembers } from "../../checks/members.js";
import { BODY_LIMITS, type BodyLimits, contentType, jsonBody } from "../../http/body.js";
import type { FaultWriter } from "../../http/fault.js";
import { ConcurrencyLimit } from "../../http/work.js";
import { BODY_TYPES, faultWriter } from "./answer.js";
import { before, MOST_STREAMS } from "./before.js";
import { AdmittedCalls } from "./call.js";
import type { Known } from "./connection.js";
import type { Binding } from "./errors.js";
import { GuardedHandler } from "./guarded-handler.js";
import { jsonRpc } from "./json-rpc.js";
import { type NeedsOf, operationGate } from "./operation-gate.js";
import { isRoot } from "./outline.js";
import { ownMethods } from "./own-methods.js";
import { RememberedTasks } from "./remembered-tasks.js";
import { type ShownTasks, shownBy } from "./visibility.js";

export interface GuardOptions {
  /** The agent that issues and judges capabilities. Its operations are those that messages may need. */
  readonly agent: IssuingAgent;
  /** Does the work, usually `new DefaultRequestHandler(card, taskStore, executor)`. */
  readonly handler: A2ARequestHandler;
  /** Returns the operation that a message needs. */
  readonly needs: NeedsOf;
  /**
   * Returns the caller of a request, as authenticated by the app; `undefined` is answered with 401. Called
   * again before each event of a subscription except the first.
   */
  readonly caller: (req: Request) => Known | Promise<Known>;
  /**
   * The store made by `openTaskStore`, if the handler keeps its tasks there; it shows each request only its own
   * tasks. Without it, the makers of tasks are remembered in memory, and after a restart no earlier task is
   * visible.
   */
  readonly access?: ShownTasks;
  /** Most open event streams of one caller; 128 unless given. */
  readonly mostStreams?: number;
  /** Limits of bodies that no earlier middleware has read. */
  readonly body?: Partial<BodyLimits>;
  /**
   * Called with internal errors of the guard or the handler, such as an unreachable task store; emits a process
   * warning unless given. Callers only learn that something failed.
   */
  readonly onFailure?: (error: unknown, what: string) => void;
}

/** A guarded A2A agent: middleware for an app, in three parts or combined. */
export interface Guard {
  /**
   * Answers JSON-RPC at its path: {@link Guard.before}, then the SDK's transport with {@link Guard.handler} and
   * {@link Guard.userBuilder}.
   */
  readonly jsonRpc: RequestHandler;
  /**
   * Goes directly before the SDK's handlers, at the same path. It reads a request, authenticates its caller,
   * and clears or refuses it. It also answers the extension's own methods.
   */
  readonly before: RequestHandler;
  /** For the SDK's `restHandler`. Performs only calls that `before` has admitted. */
  readonly handler: A2ARequestHandler;
  /**
   * Replaces the app's own `userBuilder` of `restHandler`. The user that it returns links the handler to the
   * call that `before` has admitted. Refuses nothing.
   */
  readonly userBuilder: (req: Request) => Promise<User>;
}

const MEMBERS = [
  "agent",
  "handler",
  "needs",
  "caller",
  "access",
  "mostStreams",
  "body",
  "onFailure",
];

/**
 * Guards an existing A2A agent: an `AgentExecutor` of the official SDK in an Express app. Every message must be
 * cleared for an operation, and tasks are visible only to their makers.
 *
 * @throws TypeError naming the option that is wrong.
 *
 * @example
 * ```ts
 * import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
 * import express from "express";
 * import { guard } from "proviso/a2a";
 * import { createIssuingAgent, createPolicyTable } from "proviso/agent";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 * import { createStores, openLedger } from "proviso/stores";
 *
 * const revocations = createRevocationList();
 * const database = await createStores(`${process.env.TMPDIR ?? "/tmp"}/guard-${process.pid}.db`);
 * const ledger = openLedger(database);
 * const agent = await createIssuingAgent({
 *   issuer: createIssuer({
 *     name: "echo-agent",
 *     keys: createKeyring(),
 *     revocations,
 *     grants: [{ id: "echo:use", description: "Echo a message", operations: ["echo"] }],
 *   }),
 *   revocations,
 *   ledger,
 *   policy: createPolicyTable({ rules: [{ principal: "alice", grant: "echo:use", operations: "*" }] }),
 *   skills: [],
 *   operations: [{ operation: "echo", reach: "none" }],
 * });
 * const card = { supportedInterfaces: [], capabilities: {} };
 * const executor = { execute: async () => {}, cancelTask: async () => {} };
 *
 * const { jsonRpc } = guard({
 *   agent,
 *   handler: new DefaultRequestHandler(card, new InMemoryTaskStore(), executor),
 *   needs: () => ({ operation: "echo" }),
 *   caller: (req) => (req.get("X-User") ? { principal: req.get("X-User"), invoker: "app" } : undefined),
 * });
 * const app = express().use("/a2a", jsonRpc);
 *
 * const server = app.listen(0, "127.0.0.1");
 * await new Promise((listening) => server.once("listening", listening));
 * const answer = await fetch(`http://127.0.0.1:${server.address().port}/a2a`, {
 *   method: "POST",
 *   headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
 *   body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "task-1" } }),
 * });
 * answer.status; // => 401
 * server.close();
 * await ledger.close();
 * await database.close();
 * ```
 */
export function guard(options: GuardOptions): Guard {
  assertMembers(options, MEMBERS, "options");
  const { agent, handler: inner, needs, caller, access } = options;
  if (typeof agent?.clearOperation !== "function") {
    throw new TypeError("agent: must be what createIssuingAgent gives");
  }
  if (typeof inner?.sendMessage !== "function") {
    throw new TypeError(
      "handler: must be a request handler of the SDK, such as DefaultRequestHandler",
    );
  }
  if (typeof needs !== "function") throw new TypeError("needs: must be a function");
  if (typeof caller !== "function") throw new TypeError("caller: must be a function");
  const {
    onFailure = (error) => process.emitWarning(error instanceof Error ? error : String(error)),
  } = options;
  const visibility = access === undefined ? new RememberedTasks() : shownBy(access);
  const calls = new AdmittedCalls();
  const { userBuilder } = calls;
  const handler = new GuardedHandler({ agent, calls, inner, visibility, onFailure });
  const answer: FaultWriter = (res, why) => faultWriter(bindingOf(res.req))(res, why);
  const types = {
    jsonrpc: contentType(BODY_TYPES.jsonrpc, answer),
    rest: contentType(BODY_TYPES.rest, answer),
  };
  const gated = before(
    {
      agent,
      calls,
      handler,
      caller,
      onFailure,
      messages: operationGate(agent, needs, visibility),
      methods: ownMethods(agent),
      callerAgain: caller,
      streams: new ConcurrencyLimit(options.mostStreams ?? MOST_STREAMS, "mostStreams"),
      tenants: true,
      histories: true,
    },
    bindingOf,
  );
  const front = Router().use(
    (req, res, next) => types[bindingOf(req)](req, res, next),
    jsonBody(BODY_TYPES.rest, { ...BODY_LIMITS, ...options.body }, answer),
    gated,
  );
  const answering = jsonRpc({ handler, userBuilder, onFailure });
  return { before: front, handler, userBuilder, jsonRpc: Router().use(front, answering) };
}

/** Distinguishes the bindings as the SDK's handlers do: JSON-RPC at exactly its path, HTTP+JSON below it. */
function bindingOf({ path }: Request): Binding {
  return isRoot(path) ? "jsonrpc" : "rest";
}
