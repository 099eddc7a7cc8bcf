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
  /** Judges capabilities, and issues them: its operations are what messages may need. */
  readonly agent: IssuingAgent;
  /** What does the work: usually `new DefaultRequestHandler(card, taskStore, executor)`. */
  readonly handler: A2ARequestHandler;
  /** Which operation a message needs. */
  readonly needs: NeedsOf;
  /**
   * Who makes a request, by the app's own login; `undefined` is answered with 401. It is asked again before each event
   * of a subscription but the first.
   */
  readonly caller: (req: Request) => Known | Promise<Known>;
  /**
   * The store of `openTaskStore`, where the handler keeps its tasks in it: it shows each request its own.
   * Unless given, who made which task is remembered in memory, and no task is found after a restart.
   */
  readonly access?: ShownTasks;
  /** How many event streams one caller may have open at once; 128 unless given. */
  readonly mostStreams?: number;
  /** Of bodies that nothing has read before the guard. */
  readonly body?: Partial<BodyLimits>;
  /**
   * Called with what fails in the guard or the handler, such as a task store that cannot be reached; a warning of the
   * process unless given. Callers learn only that something failed.
   */
  readonly onFailure?: (error: unknown, what: string) => void;
}

/** An agent that does only what its callers have permission for: three pieces for an app, and what they come to. */
export interface Guard {
  /**
   * Answers JSON-RPC at its address, guarded: {@link Guard.before}, then {@link Guard.handler} by the SDK's transport,
   * with the user of {@link Guard.userBuilder}.
   */
  readonly jsonRpc: RequestHandler;
  /**
   * Stands right before the SDK's handlers, at their address: reads a request, finds out who makes it, asks for permission,
   * and refuses what has none. It answers the extension's own methods, too.
   */
  readonly before: RequestHandler;
  /** For the SDK's `restHandler`: does what `before` has let in, and nothing else. */
  readonly handler: A2ARequestHandler;
  /**
   * For the same, in the place of one of the app's own: by the user that it gives, the handler knows the call that
   * `before` has let in. Refuses nothing.
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
 * Guards an A2A agent that there is already: an `AgentExecutor` of the official SDK in an Express app of
 * its own. Every message needs permission for an operation, and tasks are seen by those who made them.
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

/** As the SDK's handlers route: JSON-RPC is at their own address, and nothing of HTTP+JSON is. */
function bindingOf({ path }: Request): Binding {
  return isRoot(path) ? "jsonrpc" : "rest";
}
