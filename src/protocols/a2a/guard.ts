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
  /** The agent that issues and judges capabilities. Messages can need only operations of this agent. */
  readonly agent: IssuingAgent;
  /** The handler that does the work, usually `new DefaultRequestHandler(card, taskStore, executor)`. */
  readonly handler: A2ARequestHandler;
  /** Returns the operation that a message needs. */
  readonly needs: NeedsOf;
  /**
   * Returns the caller of a request, as the app has authenticated it. For `undefined` or `null`, the guard
   * answers with 401. During an event stream, the guard calls this function again before each event except the
   * first, and when a capability expires.
   */
  readonly caller: (req: Request) => Known | Promise<Known>;
  /**
   * The store made by `openTaskStore`, if the handler keeps its tasks in that store. The store shows each
   * request only the tasks that the request may see. Without this option, the guard remembers in memory who
   * made each task, and after a restart no earlier task is visible.
   */
  readonly access?: ShownTasks;
  /** Maximum number of open event streams per caller; 128 unless given. */
  readonly mostStreams?: number;
  /** Limits for request bodies. They do not apply to a body that earlier middleware has read. */
  readonly body?: Partial<BodyLimits>;
  /**
   * Called with internal errors of the guard or the handler, for example if the task store is unreachable.
   * Unless given, the guard emits a process warning. Clients learn only that something failed.
   */
  readonly onFailure?: (error: unknown, what: string) => void;
}

/**
 * The parts of a guarded A2A agent. `jsonRpc` serves JSON-RPC by itself. The other three parts connect the
 * guard to the SDK's own handlers.
 */
export interface Guard {
  /**
   * Middleware that answers JSON-RPC at its path. It runs {@link Guard.before}, then the SDK's transport with
   * {@link Guard.handler} and {@link Guard.userBuilder}.
   */
  readonly jsonRpc: RequestHandler;
  /**
   * Middleware to mount directly before the SDK's handlers, at the same path. It reads a request, authenticates
   * its caller, and clears or refuses the call. It also answers the extension's own methods.
   */
  readonly before: RequestHandler;
  /** The request handler to pass to the SDK's `restHandler`. It performs only calls that `before` has admitted. */
  readonly handler: A2ARequestHandler;
  /**
   * The `userBuilder` to pass to the SDK's `restHandler`, in place of the app's own. The user that this function
   * returns links the handler to the call that `before` has admitted. The function refuses no request.
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
 * Guards an existing A2A agent: an `AgentExecutor` of the official SDK in an Express app. The guard clears
 * every message for the operation that it needs, and shows a task only to requests with the authority that made
 * the task.
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
