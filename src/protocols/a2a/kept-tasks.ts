import {
  type AgentCard,
  type CancelTaskRequest,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from "@a2a-js/sdk";
import {
  RequestMalformedError,
  RestTaskNotCancelableError,
  TaskNotCancelableError,
} from "@a2a-js/sdk/errors";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ServerCallContext,
} from "@a2a-js/sdk/server";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { ApprovalTasks } from "./approval-tasks.js";
import { messageOf } from "./call.js";
import { admit } from "./gate.js";
import { progressOf } from "./progress.js";
import { checkTarget, type PushOptions, type PushSender } from "./push.js";
import { follow, repeatedTask, taskMessage } from "./repeated-messages.js";
import type { TaskStream } from "./task-stream.js";
import { setTaskAccess } from "./tasks/task-access.js";
import type { Earlier, TaskStore } from "./tasks/task-store.js";

export interface KeptTasksOptions {
  readonly agent: IssuingAgent;
  readonly card: AgentCard;
  readonly tasks: TaskStore;
  readonly executor: AgentExecutor;
  readonly push: PushOptions | undefined;
  readonly sender: PushSender | undefined;
  readonly approvals: ApprovalTasks | undefined;
  readonly stream: TaskStream;
}

/**
 * Copies a task as deeply as the SDK mutates it. The SDK replaces properties of a task and of its artifacts,
 * but changes no nested values.
 */
function copyOf(task: Task): Task {
  const artifacts = task.artifacts.map((artifact) => ({ ...artifact }));
  return { ...task, artifacts, history: [...task.history], metadata: { ...task.metadata } };
}

/** The SDK's request handler with stored tasks. A repeated message runs nothing. */
export class KeptTasks extends DefaultRequestHandler {
  readonly #options: KeptTasksOptions;

  constructor(options: KeptTasksOptions) {
    const { card, tasks, executor, push, sender } = options;
    super(
      card,
      // The executor itself stores a task's outcome before anyone sees it. So `save` is needed only when a
      // waiting task is cancelled.
      {
        load: async (id, of) => {
          // The SDK loads the task at every event, and merges the event into the loaded object.
          const now = progressOf(of);
          return now.at === "task" && now.task.id === id ? copyOf(now.task) : tasks.load(id, of);
        },
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
      // Nothing runs in a task that waits for its caller, so the SDK closes the task's event bus. The next
      // message of the task opens a new event bus.
      { keepBusAliveStates: [] },
    );
    this.#options = options;
  }

  override async sendMessage(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): Promise<Message | Task> {
    try {
      return await super.sendMessage(params, context);
    } catch (error) {
      const earlier = await this.#unbegun(context);
      if (earlier !== undefined) return earlier;
      throw error;
    }
  }

  override async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* super.sendMessageStream(params, context);
    const earlier = await this.#unbegun(context);
    if (earlier !== undefined) yield* follow(earlier, this, context);
  }

  override async cancelTask(params: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    const { approvals } = this.#options;
    try {
      if (approvals?.has(params.id) === true) return await approvals.cancel(params.id, context);
      return await super.cancelTask(params, context);
    } catch (error) {
      // A2A 1.0, section 5.4 demands 409, while the SDK answers 400.
      if (!(error instanceof TaskNotCancelableError)) throw error;
      throw new RestTaskNotCancelableError({ statusCode: 409, message: error.message });
    }
  }

  override async *resubscribe(
    params: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { approvals, stream } = this.#options;
    const { id } = params;
    if (id.trim() === "") throw new RequestMalformedError("Task ID is required");
    // The SDK's own subscription ends with the run of one message, even if the task then waits for its next
    // message.
    yield* approvals?.has(id) === true ? approvals.resubscribe(id, context) : stream(id, context);
  }

  override async createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    checkTarget(params.url, this.#options.push);
    return super.createTaskPushNotificationConfig(params, context);
  }

  /**
   * If a message started no task, returns the task that an earlier copy of the message started. Returns
   * `undefined` if the message started a task.
   *
   * @throws The error of storing the task, if no earlier copy started a task.
   */
  async #unbegun(context: ServerCallContext): Promise<Task | undefined> {
    const { agent, tasks } = this.#options;
    const now = progressOf(context);
    if (now.at !== "repeated" && now.at !== "not-begun") return undefined;
    const { call, message } = messageOf(context);
    let earlier: Earlier;
    if (now.at === "repeated") earlier = now.earlier;
    else {
      // An earlier task can be read even if the database cannot be written.
      const known = await tasks.begunBy(taskMessage(message, call));
      // The new task may have been committed although the write failed. Nothing runs in it.
      if (known === undefined || known.task === now.task) throw now.error;
      earlier = known;
    }
    // Read the task with all presented capabilities, not only with the capability that allows the call.
    const { sight } = await admit(call, agent);
    setTaskAccess(context, sight.access);
    return repeatedTask(earlier, tasks, context);
  }
}
