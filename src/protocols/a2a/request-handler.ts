import { randomUUID } from "node:crypto";
import {
  type AgentCard,
  type CancelTaskRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from "@a2a-js/sdk";
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type PushNotificationStore,
  type ServerCallContext,
  type TaskStore,
} from "@a2a-js/sdk/server";
import type { Admission } from "../../agent/admission.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Json } from "../../bytes/json.js";
import type { ConcurrencyLimit } from "../../http/concurrency-limit.js";
import { setTaskAccess } from "../../stores/tasks/task-access.js";
import { callOf } from "./call-context.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { BUSY, denialFault, type Fault, fault, thrownFault } from "./errors.js";
import { EXTENSION_URI } from "./extension.js";
import { dataPart, unsupportedPart } from "./parts.js";
import { type PresentedReading, presentedWith } from "./presented.js";
import { PushSender } from "./push-sender.js";
import { readTaskRequest } from "./task-request.js";

/** Where an agent may tell of a task's progress. */
export interface PushOptions {
  /** Where the configurations are kept, such as the task store's `pushConfigs`. */
  readonly store: PushNotificationStore;
  /** Origins that may be posted to, such as `https://caller.example`. */
  readonly origins: readonly string[];
}

/**
 * The SDK's request handler behind the gate: every operation, not only those that send, is let
 * through by policy, whatever extensions a client claims to know.
 */
export class CapabilityRequestHandler extends DefaultRequestHandler {
  readonly #agent: IssuingAgent;
  readonly #tasks: TaskStore;
  readonly #limit: ConcurrencyLimit;
  /** Ids of tasks that are being continued. */
  readonly #continued = new Set<string>();
  /** Absent if the agent does not push at all. */
  readonly #origins: readonly string[] | undefined;

  constructor(
    agent: IssuingAgent,
    card: AgentCard,
    tasks: TaskStore,
    executor: AgentExecutor,
    limit: ConcurrencyLimit,
    push: PushOptions | undefined,
    onFailure: (error: unknown, what: string) => void,
  ) {
    const sender = push === undefined ? undefined : new PushSender(push.store, onFailure);
    super(card, tasks, executor, undefined, push?.store, sender, undefined, undefined, {
      // A task that waits for its caller has nothing under way: what follows it ends, and its next
      // message begins anew.
      keepBusAliveStates: [],
    });
    this.#agent = agent;
    this.#limit = limit;
    this.#tasks = tasks;
    this.#origins = push?.origins;
  }

  override async sendMessage(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): Promise<Message | Task> {
    try {
      const reply = await this.#prepare(params, context);
      return reply ?? (await super.sendMessage(withoutCapabilities(params), context));
    } catch (error) {
      const { release, settled } = callOf(context);
      release?.();
      settled?.();
      throw error;
    }
  }

  override async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      const reply = await this.#prepare(params, context);
      if (reply !== undefined) yield { payload: { $case: "message", value: reply } };
      else yield* super.sendMessageStream(withoutCapabilities(params), context);
    } catch (error) {
      const { release, settled } = callOf(context);
      release?.();
      settled?.();
      throw error;
    }
  }

  override async getTask(params: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    await this.#admit(context);
    return super.getTask(params, context);
  }

  override async listTasks(
    params: ListTasksRequest,
    context: ServerCallContext,
  ): Promise<ListTasksResponse> {
    await this.#admit(context);
    return super.listTasks(params, context);
  }

  override async cancelTask(params: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    await this.#admit(context, this.#presented(params.metadata, context));
    return super.cancelTask(params, context);
  }

  override async *resubscribe(
    params: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    await this.#admit(context);
    yield* super.resubscribe(params, context);
  }

  override async createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    await this.#admit(context);
    this.#checkTarget(params, context);
    return super.createTaskPushNotificationConfig(params, context);
  }

  override async getTaskPushNotificationConfig(
    params: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    await this.#admit(context);
    return super.getTaskPushNotificationConfig(params, context);
  }

  override async listTaskPushNotificationConfigs(
    params: ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    await this.#admit(context);
    return super.listTaskPushNotificationConfigs(params, context);
  }

  override async deleteTaskPushNotificationConfig(
    params: DeleteTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<void> {
    await this.#admit(context);
    return super.deleteTaskPushNotificationConfig(params, context);
  }

  /** An agent that would post to any address is a way into its own network. */
  #checkTarget({ url }: TaskPushNotificationConfig, context: ServerCallContext): void {
    const origins = this.#origins;
    if (origins === undefined) throw new PushNotificationNotSupportedError();
    if (origins.includes(originOf(url))) return;
    const known = origins.length === 0 ? "nowhere" : origins.join(", ");
    this.#refuse(malformed(`push notifications go only to ${known}`), context);
  }

  /** Lets a request in, and notes which tasks it may see. */
  async #admit(
    context: ServerCallContext,
    { presented, declared }: Presented = this.#presented(undefined, context),
  ): Promise<Admission> {
    const { caller } = callOf(context);
    const answer = await this.#agent.admit(caller, presented, declared);
    if (!answer.allowed) this.#refuse(denialFault(answer.denials), context);
    const paths = answer.capabilities.map(({ capability }) => capability.revocationIds);
    this.#mayAccess(context, paths);
    return answer;
  }

  #mayAccess(context: ServerCallContext, paths: readonly (readonly string[])[]): void {
    setTaskAccess(context, { principal: callOf(context).caller.principal, paths });
    if (paths.length > 0) context.addActivatedExtension(EXTENSION_URI);
  }

  /** Gives leave to a message, or answers it at once if it is about capabilities themselves. */
  async #prepare(
    { message, metadata, configuration }: SendMessageRequest,
    context: ServerCallContext,
  ): Promise<Message | undefined> {
    const call = callOf(context);
    this.#assertOwnTenant(context);
    if ((message?.referenceTaskIds.length ?? 0) > MOST_REFERENCES) {
      this.#refuse(malformed(`a message may refer to ${MOST_REFERENCES} tasks`), context);
    }
    const target = configuration?.taskPushNotificationConfig;
    if (target !== undefined) this.#checkTarget(target, context);
    const foreign = unsupportedPart(message?.parts ?? []);
    if (foreign !== undefined) throw new ContentTypeNotSupportedError(foreign);
    const reading = readTaskRequest(message);
    if (!reading.ok) this.#refuse(malformed(reading.message), context);
    const missing = missingIn(message);
    if (missing !== undefined) this.#refuse(malformed(missing), context);
    const { request } = reading;
    if (request.kind === "method") {
      if ((message?.taskId ?? "") !== "") {
        this.#refuse(malformed("a method about capabilities belongs to no task"), context);
      }
      const outcome = await CAPABILITY_METHODS.get(request.method)?.(
        this.#agent,
        call.caller,
        request.params,
      );
      if (outcome?.ok !== true) {
        this.#refuse(outcome?.fault ?? malformed("there is no such method"), context);
      }
      context.addActivatedExtension(EXTENSION_URI);
      return replyTo(message, outcome.result);
    }
    const presented = this.#presented(metadata, context);
    const release = this.#limit.take(call.caller);
    if (release === undefined) this.#refuse(BUSY, context);
    call.release = release;
    if (request.kind === "text") {
      const admission = await this.#admit(context, presented);
      await this.#assertOpen(message, context);
      call.leave = { kind: "text", admission, request };
      return undefined;
    }
    const continued = (message?.taskId ?? "") !== "";
    if (continued) {
      await this.#admit(context, presented);
      await this.#assertOpen(message, context);
    }
    const invocation = {
      skill: request.skill,
      arguments: request.arguments,
      capabilities: presented.presented,
      declared: presented.declared,
    };
    const clearance = await this.#agent.clear(call.caller, invocation);
    if (!clearance.allowed) this.#refuse(denialFault(clearance.denials), context);
    const { capability } = clearance;
    if (!continued) {
      this.#mayAccess(context, capability === undefined ? [] : [capability.revocationIds]);
    }
    call.leave = { kind: "skill", clearance, invocation };
    return undefined;
  }

  /**
   * What the SDK would find out only when the gate has said, and the ledger has, that something may
   * run; and two messages at work in one task would each overwrite what the other has done.
   */
  async #assertOpen(message: Message | undefined, context: ServerCallContext): Promise<void> {
    const { taskId: id = "", contextId = "" } = message ?? {};
    if (id === "") return;
    const unknown = `Task not found: ${id.slice(0, 64)}`;
    if ((await this.#tasks.load(id, context)) === undefined) throw new TaskNotFoundError(unknown);
    if (this.#continued.has(id)) throw underWay(id);
    this.#continued.add(id);
    callOf(context).settled = () => this.#continued.delete(id);
    // Once more: what was loaded above may have changed before this message was alone with the task.
    const task = await this.#tasks.load(id, context);
    if (task === undefined) throw new TaskNotFoundError(unknown);
    if (contextId !== "" && contextId !== task.contextId) {
      this.#refuse(malformed("message.contextId is not that of the task"), context);
    }
    const state = task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
    if (ENDED.includes(state)) {
      throw new UnsupportedOperationError(`Task ${id} is in a terminal state and can not go on`);
    }
    if (state === TaskState.TASK_STATE_WORKING) throw underWay(id);
  }

  /** The card offers no tenants, and the SDK would keep whatever name a caller makes up. */
  #assertOwnTenant(context: ServerCallContext): void {
    if ((context.tenant ?? "") === "") return;
    this.#refuse(malformed("this agent has no tenants; leave the tenant out"), context);
  }

  #presented(
    metadata: { readonly [name: string]: unknown } | undefined,
    context: ServerCallContext,
  ): Presented {
    this.#assertOwnTenant(context);
    const reading = presentedWith(metadata, callOf(context).headers);
    if (!reading.ok) this.#refuse(malformed(reading.message), context);
    return reading;
  }

  #refuse(why: Fault, context: ServerCallContext): never {
    throw thrownFault(why, callOf(context).binding);
  }
}

function underWay(id: string): UnsupportedOperationError {
  return new UnsupportedOperationError(`Task ${id} is under way and takes no further message`);
}

const ENDED: readonly TaskState[] = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];
const MOST_REFERENCES = 16;

type Presented = Extract<PresentedReading, { readonly ok: true }>;

function originOf(url: string): string {
  try {
    const { origin, protocol, username, password } = new URL(url);
    const plain = ["http:", "https:"].includes(protocol) && username === "" && password === "";
    return plain ? origin : "";
  } catch {
    return "";
  }
}

/** What a message lacks that A2A requires of it (sections 4.1.4 and 5.7). */
function missingIn(message: Message | undefined): string | undefined {
  if ((message?.messageId ?? "") === "") return "message.messageId is required";
  if (message?.role !== Role.ROLE_USER) return "message.role must be ROLE_USER";
  return message.parts.length === 0 ? "message.parts must have at least one part" : undefined;
}

function malformed(message: string): Fault {
  return fault(-32602, message, "invalid_request");
}

/** Tokens go no further than the gate: what is left is kept with the task. */
function withoutCapabilities(params: SendMessageRequest): SendMessageRequest {
  const { [EXTENSION_URI]: _, ...metadata } = params.metadata ?? {};
  return { ...params, metadata };
}

function replyTo(message: Message | undefined, result: Json): Message {
  return {
    messageId: randomUUID(),
    contextId: message?.contextId ?? "",
    taskId: "",
    role: Role.ROLE_AGENT,
    parts: [dataPart(result)],
    metadata: {},
    extensions: [EXTENSION_URI],
    referenceTaskIds: [],
  };
}
