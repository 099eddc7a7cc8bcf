import type { AddressInfo } from "node:net";
import { AgentCard, type Message, type Part, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  type A2ARequestHandler,
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type RequestContext,
  type ServerCallContextBuilder,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import express, { type Request, type RequestHandler } from "express";
import { onTestFinished } from "vitest";
import type { Caller } from "../../../../src/agent/index.js";
import type { Grant } from "../../../../src/issuer/index.js";
import {
  capabilityExtension,
  clearanceOf,
  type GuardOptions,
  guard,
  type MessageClearance,
} from "../../../../src/protocols/a2a/index.js";
import { type World, type WorldOptions, world } from "../../../agent/support.js";

// The desk: a custom agent on the official SDK, in an Express app with its own login. It can run with or
// without a guard. The first word of a message says what the agent has to do.

/** The grants of the agent: `desk:archive` for the archive, `desk:use` for everything else. */
const GRANTS: readonly Grant[] = [
  { id: "desk:use", description: "Use the desk", operations: ["talk", "write"] },
  { id: "desk:archive", description: "Use the archive", operations: ["file"] },
];
const RULES = {
  rules: GRANTS.map(({ id }) => ({ principal: "alice", grant: id, operations: "*" as const })),
};
const OPERATIONS: Readonly<Record<string, string>> = {
  say: "talk",
  ask: "talk",
  wait: "talk",
  fail: "talk",
  refer: "talk",
  data: "talk",
  write: "write",
  file: "file",
  shred: "shred",
};

/** Starts the issuing agent that issues the desk's capabilities. */
export function desk(options: WorldOptions = {}): Promise<World> {
  return world({
    grants: GRANTS,
    rules: RULES,
    skills: [],
    operations: ["talk", "write", "file"].map((operation) => ({ operation, reach: "none" })),
    ...options,
  });
}

function wordsOf({ parts }: Message): readonly string[] {
  const [first] = parts;
  return first?.content?.$case === "text" ? first.content.value.split(" ") : [];
}

/** Returns the operation that the first word of a message needs. The second word is the operation's argument. */
export const needs: GuardOptions["needs"] = (message) => {
  const [verb = "", about = ""] = wordsOf(message);
  const operation = OPERATIONS[verb];
  return operation === undefined ? undefined : { operation, arguments: { about } };
};

/** An executor that records the messages that it has run and, behind a guard, their clearances. */
interface Desk extends AgentExecutor {
  readonly ran: Message[];
  readonly cleared: MessageClearance[];
  /** Number of referenced tasks that the agent was given with each message. */
  readonly referred: number[];
  /** The requests, with headers, that the SDK passes to the agent. */
  readonly told: string[];
}

function part(content: Part["content"], mediaType: string, filename = ""): Part {
  return { content, mediaType, filename, metadata: {} };
}

function text(value: string): Part {
  return part({ $case: "text", value }, "text/plain");
}

function deskExecutor(guarded: boolean): Desk {
  const ran: Message[] = [];
  const cleared: MessageClearance[] = [];
  const referred: number[] = [];
  const told: string[] = [];
  const execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { userMessage, taskId, contextId, task } = request;
    ran.push(structuredClone(userMessage));
    told.push(JSON.stringify([...request.context.state.entries()]));
    referred.push(request.referenceTasks?.length ?? 0);
    if (guarded) cleared.push(clearanceOf(request.context));
    const [verb = "", ...rest] = wordsOf(userMessage);
    const message = (said: string): Message => ({
      messageId: crypto.randomUUID(),
      role: Role.ROLE_AGENT,
      parts: [text(said)],
      taskId,
      contextId,
      metadata: {},
      extensions: [],
      referenceTaskIds: [],
    });
    if (verb === "fail") throw new Error("the printer is on fire");
    if (verb === "say" && task === undefined) {
      return bus.publish(AgentEvent.message({ ...message(rest.join(" ")), taskId: "" }));
    }
    const at = (state: TaskState, said?: string): Task["status"] => ({
      state,
      timestamp: new Date().toISOString(),
      message: said === undefined ? undefined : message(said),
    });
    const update = (state: TaskState, said?: string): void =>
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId, status: at(state, said), metadata: {} }),
      );
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        artifacts: [],
        history: [userMessage],
        metadata: {},
        ...(task === undefined ? {} : { history: task.history }),
        status: at(TaskState.TASK_STATE_WORKING),
      }),
    );
    if (verb === "wait") return;
    if (verb === "ask") return update(TaskState.TASK_STATE_INPUT_REQUIRED, "which one?");
    const chunks: readonly (readonly Part[])[] =
      verb === "write" ? rest.map((word) => [text(word)]) : [userMessage.parts];
    for (const [count, parts] of chunks.entries()) {
      const artifact = {
        artifactId: "paper",
        name: "paper",
        description: "",
        parts: [...parts],
        metadata: {},
        extensions: [],
      };
      const last = count === chunks.length - 1;
      const chunk = { artifact, append: count > 0, lastChunk: last, metadata: {} };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, ...chunk }));
    }
    update(TaskState.TASK_STATE_COMPLETED, "done");
  };
  const cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const timestamp = new Date().toISOString();
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: "", status, metadata: {} }));
  };
  return { ran, cleared, referred, told, execute, cancelTask };
}

/** The running agent. */
export interface RunningDesk {
  readonly url: string;
  readonly desk: Desk;
}

export interface DeskOptions extends Partial<GuardOptions> {
  /**
   * `true` to answer JSON-RPC with the SDK's handler behind the guard's `before`, instead of with the guard's
   * `jsonRpc`.
   */
  readonly apart?: boolean;
  /** Number of times that the guard's `before` is installed; once unless given. */
  readonly fronts?: number;
  /** A middleware between the guard's `before` and the SDK's handlers. */
  readonly between?: RequestHandler;
  /** `true` to leave out the guard's `before`. */
  readonly bare?: boolean;
  /** `true` to give the SDK the app's own user instead of the guard's. */
  readonly ownUser?: boolean;
  /** The context builder of the SDK's handlers; the SDK's default unless given. */
  readonly contextBuilder?: ServerCallContextBuilder;
  /** The task store; in memory unless given. */
  readonly tasks?: ConstructorParameters<typeof DefaultRequestHandler>[1];
}

const LOGIN = /^Bearer ([a-z]+):([a-z]+)$/;
const callers = new WeakMap<Request, Caller>();

/** The app's own login: `Bearer USER:APP`. */
const login: RequestHandler = (req, _res, next) => {
  const [, principal, invoker] = LOGIN.exec(req.get("Authorization") ?? "") ?? [];
  if (principal !== undefined && invoker !== undefined) callers.set(req, { principal, invoker });
  next();
};

/** Starts the agent, behind a guard if there is an issuing agent. */
export async function startDesk(
  { agent }: { readonly agent?: World["agent"] } = {},
  {
    bare = false,
    ownUser = false,
    fronts = 1,
    between = (_req, _res, next) => next(),
    apart = fronts > 1 || bare,
    tasks = new InMemoryTaskStore(),
    contextBuilder,
    ...options
  }: DeskOptions = {},
): Promise<RunningDesk> {
  const app = express();
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const own = deskExecutor(agent !== undefined && !bare);
  const card = AgentCard.fromJSON({
    name: "Desk",
    description: "A desk",
    version: "1",
    skills: [],
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extensions: agent === undefined ? [] : [capabilityExtension(agent)],
    },
  });
  const inner = new DefaultRequestHandler(
    ...[card, tasks, own, undefined],
    new InMemoryPushNotificationStore(),
  );
  const userBuilder = async (req: Request) => ({
    isAuthenticated: callers.has(req),
    userName: callers.get(req)?.principal ?? "",
  });
  const caller = (req: Request): Caller | undefined => callers.get(req);
  const guarded = agent && guard({ agent, handler: inner, needs, caller, ...options });
  const requestHandler: A2ARequestHandler = guarded?.handler ?? inner;
  const front =
    guarded === undefined || bare ? [] : Array.from({ length: fronts }, () => guarded.before);
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(login);
  const users = ownUser ? userBuilder : (guarded?.userBuilder ?? userBuilder);
  const served = {
    requestHandler,
    userBuilder: users,
    ...(contextBuilder && { contextBuilder }),
  };
  if (guarded === undefined || apart) app.use("/rpc", ...front, between, jsonRpcHandler(served));
  else app.use("/rpc", guarded.jsonRpc);
  app.use("/rest", ...front, between, restHandler(served));
  return { url, desk: own };
}
