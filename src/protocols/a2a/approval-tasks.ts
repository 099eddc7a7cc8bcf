import { hash, randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import {
  type Message,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from "@a2a-js/sdk";
import { TaskNotCancelableError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { type PushNotificationSender, ServerCallContext } from "@a2a-js/sdk/server";
import type { Caller } from "../../agent/caller.js";
import type { Approvals } from "../../agent/parties/approvals.js";
import { type Call, callOf, type Sight } from "./call.js";
import type { PendingAnswer } from "./capability-methods.js";
import { EXTENSION_URI } from "./extension.js";
import { hasEnded } from "./open-tasks.js";
import { dataPart, newMessage } from "./parts.js";
import { checkTarget, type PushOptions } from "./push.js";
import { repeatedTask, taskMessage } from "./repeated-messages.js";
import { APPROVAL_CANCELLED, type Ending, endedTask, endingOfApproval } from "./task-endings.js";
import type { TaskStream } from "./task-stream.js";
import { setTaskAccess } from "./tasks/task-access.js";
import type { TaskStore } from "./tasks/task-store.js";

export interface ApprovalTasksOptions {
  readonly approvals: Approvals;
  readonly tasks: TaskStore;
  readonly push: PushOptions | undefined;
  readonly sender: PushNotificationSender | undefined;
  /** Aborted when the agent shuts down. Waiting tasks resume after a restart. */
  readonly stopping: AbortSignal;
  readonly stream: TaskStream;
  readonly onFailure: (error: unknown, what: string) => void;
}

/** Milliseconds between two searches for waiting tasks, including tasks of server instances that are gone. */
const LOOK_EVERY = 15_000;
/** The first id in the access path of every task made for an approval. No revocation id equals it. */
const WAITS = "waits-for-approval";
const FORM = /^approval_[A-Za-z0-9_-]{1,64}$/;

/**
 * Tasks that wait for approvals. When people have decided, any process that uses the same database ends the
 * task. A task has the id of its approval, and never contains a token. It belongs to the party that requested
 * the capabilities, whichever capabilities the party presents.
 */
export class ApprovalTasks {
  readonly #options: ApprovalTasksOptions;
  /** Promises of outcomes by task id. A promise resolves to `undefined` if this instance stops or fails. */
  readonly #waiting = new Map<string, Promise<Task | undefined>>();

  constructor(options: ApprovalTasksOptions) {
    this.#options = options;
    const { stopping } = options;
    // Each waiting task adds a listener to the signal.
    setMaxListeners(0, stopping);
    const timer = setInterval(() => void this.#look(), LOOK_EVERY).unref();
    stopping.addEventListener("abort", () => clearInterval(timer), { once: true });
    void this.#look();
  }

  /** Returns whether an id has the form of the id of a task made for an approval. */
  has(id: string): boolean {
    return FORM.test(id);
  }

  /** Returns the view that shows a caller its own approval tasks. */
  sightOf({ caller, tenant }: Call): Sight {
    return { access: accessOf(caller), tenant, expires: Number.POSITIVE_INFINITY };
  }

  /**
   * Returns the task that an earlier copy of the message started; `undefined` if there is none.
   *
   * @throws Refused if a different message had the same id, or push notifications to the given URL are not
   *   allowed.
   */
  async earlier(
    { configuration }: SendMessageRequest,
    message: Message,
    call: Call,
  ): Promise<Task | undefined> {
    const target = configuration?.taskPushNotificationConfig;
    if (target !== undefined) checkTarget(target.url, this.#options.push);
    const { tasks } = this.#options;
    const earlier = await tasks.begunBy(taskMessage(message, call));
    return earlier && repeatedTask(earlier, tasks, this.sightOf(call));
  }

  /**
   * Returns the approval task of a message. `isNew` is true if this message started the task.
   *
   * @param answer - The answer to the caller. The task stores only its property `pending`, without the user
   *   code.
   * @throws TaskQuotaError or A2AError if the task cannot be stored. The approval stays open, and the agent
   *   finds the approval again if the caller repeats the message.
   */
  async begin(
    message: Message,
    call: Call,
    answer: { readonly pending: PendingAnswer },
  ): Promise<{ readonly task: Task; readonly isNew: boolean }> {
    const { tasks } = this.#options;
    const sight = this.sightOf(call);
    // The caller's answer contains the user code; the stored task does not.
    const { userCode: _, ...kept } = answer.pending;
    const task = waitingTask(message, { pending: kept });
    const { id, contextId } = task;
    // An earlier message may have made the same request, whose approval may already be decided.
    const known = await tasks.load(id, sight);
    if (known !== undefined && hasEnded(known)) return { task: known, isNew: false };
    const begun = await tasks.begin(task, taskMessage(message, call), sight);
    if (!begun.begun) return { task: await repeatedTask(begun, tasks, sight), isNew: false };
    const status = waitingStatus(id, contextId, answer, task.status);
    return { task: { ...task, status }, isNew: true };
  }

  /**
   * Starts waiting for a task's approval, unless the task has ended.
   *
   * @param receiver - The push configuration to store with the task; `undefined` if the caller wants no
   *   notifications.
   */
  async waitFor(
    task: Task,
    receiver: TaskPushNotificationConfig | undefined,
    context: ServerCallContext,
  ): Promise<void> {
    if (hasEnded(task)) return;
    const { id } = task;
    if (receiver !== undefined) {
      await this.#options.push?.store.save(id, context, { ...receiver, taskId: id });
    }
    void this.#watch(id, callOf(context).caller);
  }

  /**
   * Streams a task until the task ends.
   *
   * @param task - The state to send first.
   */
  async *stream(
    task: Task,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* this.#options.stream(task.id, context, task);
  }

  /**
   * Answers SubscribeToTask.
   *
   * @throws A2AError if the caller may not see the task, or the task has ended.
   */
  async *resubscribe(
    id: string,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const task = await this.#options.tasks.load(id, context);
    if (task !== undefined && !hasEnded(task)) void this.#watch(id, callOf(context).caller);
    yield* this.#options.stream(id, context);
  }

  /**
   * Cancels the approval that a task waits for, and ends the task.
   *
   * @throws A2AError if the caller may not see the task, or the task has ended without being cancelled.
   */
  async cancel(id: string, context: ServerCallContext): Promise<Task> {
    const { approvals, tasks } = this.#options;
    const { principal, invoker: agent } = callOf(context).caller;
    let task = await tasks.load(id, context);
    if (task === undefined) throw new TaskNotFoundError(`Task not found: ${id}`);
    if (!hasEnded(task)) task = await this.#ended(task, APPROVAL_CANCELLED, context);
    if (task?.status?.state !== TaskState.TASK_STATE_CANCELED) {
      throw new TaskNotCancelableError(`Task not cancelable: ${id}`);
    }
    // The task was stored as cancelled first, so an approver's decision in the meantime cannot end the task with
    // grants.
    await approvals.cancel(id, { principal, agent });
    return task;
  }

  /** Resolves once this instance has stopped waiting for approvals, and has stored every outcome. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting.values());
  }

  /** Starts waiting for every open approval task in the database, whichever instance started the task. */
  async #look(): Promise<void> {
    try {
      const waiting = await this.#options.tasks.waitingUnder(WAITS);
      if (this.#options.stopping.aborted) return;
      for (const { id, ...caller } of waiting) void this.#watch(id, caller);
    } catch (error) {
      this.#options.onFailure(error, "approvals");
    }
  }

  #watch(id: string, caller: Caller): Promise<Task | undefined> {
    const known = this.#waiting.get(id);
    if (known !== undefined) return known;
    const { stopping, onFailure } = this.#options;
    const watching = this.#end(id, caller)
      .catch((error: unknown) => {
        if (!stopping.aborted) onFailure(error, "approvals");
        return undefined;
      })
      .finally(() => this.#waiting.delete(id));
    this.#waiting.set(id, watching);
    return watching;
  }

  /** Waits until an approval is settled, then ends its task unless the task has ended already. */
  async #end(id: string, caller: Caller): Promise<Task | undefined> {
    const { approvals, tasks, stopping } = this.#options;
    const approval = await approvals.waitUntilSettled(id, stopping);
    const context = contextOf(caller);
    const task = await tasks.load(id, context);
    if (task === undefined || hasEnded(task)) return task;
    return this.#ended(task, endingOfApproval(approval), context);
  }

  /**
   * Stores a task's outcome and sends push notifications.
   *
   * @returns The ended task; if another request was the first to end it, the stored task.
   */
  async #ended(task: Task, ending: Ending, context: ServerCallContext): Promise<Task | undefined> {
    const { tasks, sender } = this.#options;
    const ended = endedTask(task, ending);
    if (!(await tasks.end(ended, context))) return tasks.load(task.id, context);
    await sender?.send({ payload: { $case: "task", value: ended } }, context, ended);
    return ended;
  }
}

/**
 * Returns a context for the task store and the push sender. When an approval ends a task, there is no request
 * whose context they could get.
 */
function contextOf(caller: Caller): ServerCallContext {
  const context = new ServerCallContext({ requestedVersion: "1.0" });
  setTaskAccess(context, accessOf(caller));
  return context;
}

/**
 * Returns an access with a path that no token has. Only the caller's party has this access, whichever
 * capabilities the party presents.
 */
function accessOf(caller: Caller) {
  const { principal, invoker } = caller;
  const party = hash("sha256", JSON.stringify([principal, invoker]), "base64url");
  return { principal, invoker, paths: [[WAITS, `asker-${party}`]] };
}

function waitingTask(message: Message, answer: { readonly pending: PendingAnswer }): Task {
  const id = answer.pending.approvalId;
  const contextId = message.contextId === "" ? randomUUID() : message.contextId;
  return {
    id,
    contextId,
    artifacts: [],
    metadata: {},
    status: waitingStatus(id, contextId, answer),
    history: [{ ...message, taskId: id, contextId }],
  };
}

/** @param stored - The stored status, whose message id and timestamp the caller's copy repeats. */
function waitingStatus(
  taskId: string,
  contextId: string,
  answer: { readonly pending: PendingAnswer },
  stored?: Task["status"],
): NonNullable<Task["status"]> {
  const message = newMessage({
    role: Role.ROLE_AGENT,
    parts: [dataPart(answer)],
    extensions: [EXTENSION_URI],
    taskId,
    contextId,
    messageId: stored?.message?.messageId ?? randomUUID(),
  });
  const timestamp = stored?.timestamp ?? new Date().toISOString();
  return { state: TaskState.TASK_STATE_AUTH_REQUIRED, message, timestamp };
}
