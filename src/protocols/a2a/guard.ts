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
  /** Judges and issues capabilities; its operations are those that messages may need. */
  readonly agent: IssuingAgent;
  /** Does the work: usually `new DefaultRequestHandler(card, taskStore, executor)`. */
  readonly handler: A2ARequestHandler;
  /** Returns the operation that a message needs. */
  readonly needs: NeedsOf;
  /**
   * Returns the caller of a request by the app's own login; `undefined` is answered with 401. Called again
   * before each event of a subscription but the first.
   */
  readonly caller: (req: Request) => Known | Promise<Known>;
  /**
   * The store of `openTaskStore`, if the handler keeps its tasks in it; it shows each request its own tasks.
   * Unless given, the makers of tasks are remembered in memory, and no task is found after a restart.
   */
  readonly access?: ShownTasks;
  /** Most event streams of one caller open at once; 128 unless given. */
  readonly mostStreams?: number;
  /** Limits of bodies that nothing has read before the guard. */
  readonly body?: Partial<BodyLimits>;
  /**
   * Called with internal errors of the guard or the handler, such as an unreachable task store; emits a process
   * warning unless given. Callers learn only that something failed.
   */
  readonly onFailure?: (error: unknown, what: string) => void;
}

/** A guarded A2A agent: three parts for an app, and their combination. */
export interface Guard {
  /**
   * Answers JSON-RPC at its address, guarded: {@link Guard.before}, then {@link Guard.handler} with the SDK's
   * transport and the user of {@link Guard.userBuilder}.
   */
  readonly jsonRpc: RequestHandler;
  /**
   * Goes right before the SDK's handlers, at their address: reads a request, identifies its caller, clears it,
   * and refuses it if it is not allowed. Also answers the extension's own methods.
   */
  readonly before: RequestHandler;
  /** For the SDK's `restHandler`: performs calls that `before` has admitted, and nothing else. */
  readonly handler: A2ARequestHandler;
  /**
   * Replaces the app's own `userBuilder` of `restHandler`: its user connects the handler to the call that
   * `before` has admitted. Refuses nothing.
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
 * Guards an existing A2A agent: an `AgentExecutor` of the official SDK in an Express app. Every message needs
 * permission for an operation, and tasks are visible to those who made them.
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

/** Routes as the SDK's handlers do: JSON-RPC at exactly its address, HTTP+JSON below its address. */
function bindingOf({ path }: Request): Binding {
  return isRoot(path) ? "jsonrpc" : "rest";
}
