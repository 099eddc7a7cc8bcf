import {
  type AgentCard,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
  TaskState,
} from "@a2a-js/sdk";
import { A2AError } from "@a2a-js/sdk/errors";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type A2ARequestHandler as Operations,
  type ServerCallContext,
} from "@a2a-js/sdk/server";
import { TaskQuotaError } from "../../stores/tasks/quota.js";
import { isRunning } from "../../stores/tasks/task-row.js";
import { admit } from "./admission.js";
import { callOf } from "./call-context.js";
import { fault, quotaFault, thrownFault } from "./errors.js";
import { UNSTORED } from "./executor.js";
import { EXTENSION_URI } from "./extension.js";
import { MessageGate, type MessageGateContext } from "./message-gate.js";
import { PushSender } from "./push-sender.js";
import { checkTarget } from "./push-target.js";
import { repeatedTask } from "./repeats.js";

/** What the handler rests on. */
export interface RequestHandlerContext extends MessageGateContext {
  readonly card: AgentCard;
  readonly executor: AgentExecutor;
  /** Called with what failed within; its caller learns only that something did. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/**
 * The SDK's request handler behind the gate: every operation, not only those that send, is let
 * through by policy, whatever extensions a client claims to know. The SDK would send callers the
 * message of whatever is thrown, with paths and addresses in it: of a failure within, callers learn
 * only that there was one.
 */
export class CapabilityRequestHandler implements Operations {
  readonly #context: RequestHandlerContext;
  readonly #messages: MessageGate;
  readonly #sdk: DefaultRequestHandler;

  constructor(context: RequestHandlerContext) {
    const { card, tasks, executor, push, onFailure } = context;
    this.#context = context;
    this.#messages = new MessageGate(context);
    const sender = push === undefined ? undefined : new PushSender(push.store, onFailure);
    this.#sdk = new DefaultRequestHandler(
      card,
      // The executor stores what becomes of a task before anyone hears of it. What is left is the
      // end of a task that waits for a message.
      {
        load: (id, of) => tasks.load(id, of),
        list: (params, of) => tasks.list(params, of),
        save: async (task, of) => {
          if (task.status?.state === TaskState.TASK_STATE_CANCELED) await tasks.end(task, of);
        },
      },
      executor,
      undefined,
      push?.store,
      sender,
      undefined,
      undefined,
      // A task that waits for its caller has nothing under way: what follows it ends, and its next
      // message begins anew.
      { keepBusAliveStates: [] },
    );
  }

  readonly getAgentCard: Operations["getAgentCard"] = () => this.#sdk.getAgentCard();

  readonly getAuthenticatedExtendedAgentCard: Operations["getAuthenticatedExtendedAgentCard"] = (
    params,
    context,
  ) =>
    this.#shielded("GetExtendedAgentCard", context, () =>
      this.#sdk.getAuthenticatedExtendedAgentCard(params, context),
    );

  readonly sendMessage: Operations["sendMessage"] = (params, context) =>
    this.#shielded("SendMessage", context, async () => {
      const reply = await this.#messages.enter(params, context);
      if (reply !== undefined) return reply;
      try {
        return await this.#sdk.sendMessage(withoutCapabilities(params), context);
      } catch (error) {
        const earlier = await this.#unbegun(context);
        if (earlier !== undefined) return earlier;
        throw error;
      }
    });

  async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      const reply = await this.#messages.enter(params, context);
      if (reply === undefined) {
        yield* this.#sdk.sendMessageStream(withoutCapabilities(params), context);
        const earlier = await this.#unbegun(context);
        if (earlier !== undefined) yield* this.#follow(earlier, context);
      } else if ("messageId" in reply) yield { payload: { $case: "message", value: reply } };
      else yield* this.#follow(reply, context);
    } catch (error) {
      throw this.#shown("SendStreamingMessage", context, error);
    }
  }

  readonly getTask: Operations["getTask"] = (params, context) =>
    this.#admitted("GetTask", context, () => this.#sdk.getTask(params, context));

  readonly listTasks: Operations["listTasks"] = (params, context) =>
    this.#admitted("ListTasks", context, () => this.#sdk.listTasks(params, context));

  readonly cancelTask: Operations["cancelTask"] = (params, context) =>
    this.#admitted("CancelTask", context, () => this.#sdk.cancelTask(params, context));

  async *resubscribe(
    params: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      await admit(this.#context.agent, context);
      yield* this.#sdk.resubscribe(params, context);
    } catch (error) {
      throw this.#shown("SubscribeToTask", context, error);
    }
  }

  readonly createTaskPushNotificationConfig: Operations["createTaskPushNotificationConfig"] = (
    params,
    context,
  ) =>
    this.#admitted("CreateTaskPushNotificationConfig", context, async () => {
      checkTarget(params.url, this.#context.push, context);
      return this.#sdk.createTaskPushNotificationConfig(params, context);
    });

  readonly getTaskPushNotificationConfig: Operations["getTaskPushNotificationConfig"] = (
    params,
    context,
  ) =>
    this.#admitted("GetTaskPushNotificationConfig", context, () =>
      this.#sdk.getTaskPushNotificationConfig(params, context),
    );

  readonly listTaskPushNotificationConfigs: Operations["listTaskPushNotificationConfigs"] = (
    params,
    context,
  ) =>
    this.#admitted("ListTaskPushNotificationConfigs", context, () =>
      this.#sdk.listTaskPushNotificationConfigs(params, context),
    );

  readonly deleteTaskPushNotificationConfig: Operations["deleteTaskPushNotificationConfig"] = (
    params,
    context,
  ) =>
    this.#admitted("DeleteTaskPushNotificationConfig", context, () =>
      this.#sdk.deleteTaskPushNotificationConfig(params, context),
    );

  /** The task that the same message began before, where that came out only when this one was to begin. */
  async #unbegun(context: ServerCallContext): Promise<Task | undefined> {
    const { earlier, failure } = callOf(context);
    if (failure !== undefined) throw failure.error;
    return earlier && repeatedTask(earlier, this.#context.tasks, context);
  }

  /** A task, with what comes of it where it is under way. */
  async *#follow(
    task: Task,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    if (isRunning(task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED)) {
      yield* this.#sdk.resubscribe({ tenant: "", id: task.id }, context);
    } else yield { payload: { $case: "task", value: task } };
  }

  #admitted<T>(what: string, context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    return this.#shielded(what, context, async () => {
      await admit(this.#context.agent, context);
      return work();
    });
  }

  async #shielded<T>(what: string, context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#shown(what, context, error);
    }
  }

  /** What callers are shown in the place of an error: A2A's own are made for them. */
  #shown(what: string, context: ServerCallContext, error: unknown): unknown {
    const { binding, caller, leave, release, settled, unstored } = callOf(context);
    release?.();
    settled?.();
    if (unstored) return thrownFault(fault(-32603, UNSTORED, "outcome_not_stored"), binding);
    if (leave?.kind === "skill") {
      const code = error instanceof A2AError ? error.reason.toLowerCase() : "internal_error";
      try {
        this.#context.agent.forgo(leave.clearance, caller, code);
      } catch (failure) {
        this.#context.onFailure(failure, what);
      }
    }
    if (error instanceof A2AError) return error;
    if (error instanceof TaskQuotaError) return thrownFault(quotaFault(error.message), binding);
    this.#context.onFailure(error, what);
    return thrownFault(fault(-32603, "internal error", "internal_error"), binding);
  }
}

/** Tokens go no further than the gate: what is left is kept with the task. */
function withoutCapabilities(params: SendMessageRequest): SendMessageRequest {
  const { [EXTENSION_URI]: _, ...metadata } = params.metadata ?? {};
  return { ...params, metadata };
}
