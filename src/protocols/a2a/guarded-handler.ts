import type {
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
} from "@a2a-js/sdk";
import { A2AError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import {
  type A2ARequestHandler as Operations,
  type ServerCallContext,
  STATE_HEADERS_KEY,
} from "@a2a-js/sdk/server";
import { useOf } from "../../agent/coverage.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { beside } from "../../bytes/beside.js";
import { isObject } from "../../bytes/json.js";
import { recordUse } from "../../stores/tasks/task-access.js";
import { admit } from "./admission.js";
import type { ApprovalTasks } from "./approval-tasks.js";
import { adopt, callOf, giveUp } from "./calls.js";
import { type Entered, enterTask } from "./entering.js";
import { type Fault, failedWithin, faultOf, isOfStore, sdkError } from "./errors.js";
import { EXTENSION_URI } from "./extension.js";
import { hasEnded } from "./open-tasks.js";
import type { Need } from "./places.js";
import { follow, taskIdOf } from "./repeats.js";
import type { Visibility } from "./visibility.js";
import { whileAllowed } from "./while-allowed.js";

/** What the handler rests on. */
export interface GuardedHandlerOptions {
  readonly agent: IssuingAgent;
  /** What does the operations. */
  readonly inner: Operations;
  /** Which tasks a request may see; unless given, what keeps the tasks of `inner` says that. */
  readonly visibility?: Visibility | undefined;
  /** The tasks that wait for approvals; absent where none are kept. */
  readonly approvals?: ApprovalTasks | undefined;
  /** Called with what fails within: its caller learns only that something did. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/**
 * A request handler of the SDK behind the gate: it does what the entrance has let in, and nothing
 * else. What runs is the message that leave was asked for, without capabilities.
 */
export class GuardedHandler implements Operations {
  readonly #options: GuardedHandlerOptions;
  readonly #inner: Operations;
  // By the request's headers, which the SDK hands on in its context: asynchronous context would do, but up to
  // Node 22 costs time at every promise of the process.
  readonly #entered = beside<object, Entered>();

  constructor(options: GuardedHandlerOptions) {
    this.#options = options;
    this.#inner = options.inner;
  }

  /**
   * Lets one operation in.
   *
   * @param by - The headers of its request, or the context that the operation is called with.
   * @throws TypeError if they have let one in already: the handler could not distinguish the two.
   */
  letIn(by: object, entered: Entered): void {
    if (this.#entered.get(by) !== undefined) {
      throw new TypeError("headers: must be an object of this request alone, as Node makes one");
    }
    this.#entered.set(by, entered);
  }

  /** What leave was asked for in, for an operation that has been let in and is not called yet. */
  waiting(by: object): ServerCallContext | undefined {
    return this.#entered.get(by)?.context;
  }

  readonly getAgentCard: Operations["getAgentCard"] = () => this.#inner.getAgentCard();

  readonly getAuthenticatedExtendedAgentCard: Operations["getAuthenticatedExtendedAgentCard"] = (
    params,
    context,
  ) =>
    this.#shielded("card", context, () =>
      this.#inner.getAuthenticatedExtendedAgentCard(params, context),
    );

  readonly sendMessage: Operations["sendMessage"] = ({ tenant }, context) =>
    this.#shielded("message", context, async () => {
      const { reply } = callOf(context);
      if (reply !== undefined) return reply;
      const answer = await this.#inner.sendMessage(await this.#begun(context, tenant), context);
      if ("artifacts" in answer) this.#options.visibility?.note(answer.id, context);
      return answer;
    });

  async *sendMessageStream(
    { tenant }: Parameters<Operations["sendMessageStream"]>[0],
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    this.#take("message", context);
    try {
      const { reply } = callOf(context);
      if (reply !== undefined) return yield* this.#replied(reply, context);
      const request = await this.#begun(context, tenant);
      // A task that an earlier message began is followed, as by a subscription.
      const again = async (): Promise<void> => {
        if (callOf(context).earlier !== undefined) await admit(this.#options.agent, context);
      };
      const events = this.#inner.sendMessageStream(request, context);
      for await (const event of whileAllowed(events, again, callOf(context))) {
        const id = taskIdOf(event);
        if (id !== "") this.#options.visibility?.note(id, context);
        yield event;
      }
    } catch (error) {
      throw this.#shown("message", context, error);
    }
  }

  #replied(
    reply: Message | Task,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { agent, approvals } = this.#options;
    const call = callOf(context);
    if ("artifacts" in reply && approvals?.has(reply.id) === true) {
      const again = async (): Promise<void> => approvals.admit(context);
      return whileAllowed(approvals.stream(reply, context), again, call);
    }
    const again = async (): Promise<void> => void (await admit(agent, context));
    return whileAllowed(follow(reply, this.#inner, context), again, call);
  }

  readonly getTask: Operations["getTask"] = (params, context) => {
    const read = (): Promise<Task> => this.#inner.getTask(params, context);
    return this.#shielded("task", context, async () => {
      await this.#assertVisible(params.id, context, async () => hasEnded(await read()));
      return read();
    });
  };

  readonly listTasks: Operations["listTasks"] = (params, context) =>
    this.#shielded("task", context, () => this.#listed(params, context));

  readonly cancelTask: Operations["cancelTask"] = (params, context) =>
    this.#onTask(params.id, context, () =>
      this.#inner.cancelTask({ ...params, metadata: withoutEntry(params.metadata) }, context),
    );

  async *resubscribe(
    params: Parameters<Operations["resubscribe"]>[0],
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    this.#take("task", context);
    try {
      await this.#assertVisible(params.id, context);
      const call = callOf(context);
      const again = async (): Promise<void> => {
        await enterTask(params.id, call, context, this.#options);
        await this.#assertVisible(params.id, context);
      };
      yield* whileAllowed(this.#inner.resubscribe(params, context), again, call);
    } catch (error) {
      throw this.#shown("task", context, error);
    }
  }

  readonly createTaskPushNotificationConfig: Operations["createTaskPushNotificationConfig"] =
    this.#ofTask((...given) => this.#inner.createTaskPushNotificationConfig(...given));

  readonly getTaskPushNotificationConfig: Operations["getTaskPushNotificationConfig"] =
    this.#ofTask((...given) => this.#inner.getTaskPushNotificationConfig(...given));

  readonly listTaskPushNotificationConfigs: Operations["listTaskPushNotificationConfigs"] =
    this.#ofTask((...given) => this.#inner.listTaskPushNotificationConfigs(...given));

  readonly deleteTaskPushNotificationConfig: Operations["deleteTaskPushNotificationConfig"] =
    this.#ofTask((...given) => this.#inner.deleteTaskPushNotificationConfig(...given));

  /** An operation on the configurations of a task. */
  #ofTask<Params extends { readonly taskId: string }, Result>(
    run: (params: Params, context: ServerCallContext) => Promise<Result>,
  ): (params: Params, context: ServerCallContext) => Promise<Result> {
    return (params, context) => this.#onTask(params.taskId, context, () => run(params, context));
  }

  #onTask<T>(id: string, context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    return this.#shielded("task", context, async () => {
      await this.#assertVisible(id, context);
      return work();
    });
  }

  async #assertVisible(
    id: string,
    context: ServerCallContext,
    ended?: () => Promise<boolean>,
  ): Promise<void> {
    const { visibility } = this.#options;
    // Of an id that is blank, the SDK says what is wrong.
    if (visibility === undefined || id.trim() === "") return;
    if (await visibility.sees(id, context, ended)) return;
    throw new TaskNotFoundError(`Task not found: ${id}`);
  }

  #listed(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const { visibility } = this.#options;
    if (visibility === undefined) return this.#inner.listTasks(params, context);
    return visibility.list(params, context, this.#inner);
  }

  /** The message that leave was asked for, where its capability still stands: it runs now. */
  async #begun(context: ServerCallContext, tenant: string): Promise<SendMessageRequest> {
    const { leave, request, caller, references = [] } = callOf(context);
    if (leave === undefined || request?.message === undefined) throw notLetIn();
    // What runs a skill asks again itself, once the task is stored.
    if (leave.kind === "operation") {
      const use = useOf(leave.clearance);
      if (use !== undefined) recordUse(context, use);
      await this.#options.agent.begin(leave.clearance, caller);
    }
    const message = { ...request.message, referenceTaskIds: [...references] };
    const { configuration, metadata } = request;
    return { tenant, message, configuration, metadata: withoutEntry(metadata) };
  }

  #take(need: Need, context: ServerCallContext): void {
    const headers: unknown = context.state.get(STATE_HEADERS_KEY);
    const entered =
      this.#entered.get(context) ?? (isObject(headers) ? this.#entered.get(headers) : undefined);
    if (entered?.context === undefined || entered.need !== need) throw notLetIn();
    if (!adopt(context, entered.context)) throw notLetIn();
    entered.context = undefined;
  }

  async #shielded<T>(need: Need, context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    this.#take(need, context);
    try {
      return await work();
    } catch (error) {
      throw this.#shown(need, context, error);
    }
  }

  /** What the SDK is to answer with in the place of an error. */
  #shown(what: string, context: ServerCallContext, error: unknown): unknown {
    const { agent, onFailure } = this.#options;
    const call = callOf(context);
    const { binding, instead, tryAgainAfter } = call;
    const own = error instanceof A2AError && !isOfStore(error);
    const why = instead ?? (own ? undefined : faultOf(error));
    const within = why ?? failedWithin(error);
    const code = own ? error.reason.toLowerCase() : within.info.reason;
    giveUp(call, agent, code);
    const answered = (fault: Fault): Error => {
      if (fault.retryAfter !== undefined) tryAgainAfter?.(fault.retryAfter);
      return sdkError(fault, binding);
    };
    if (why !== undefined) return answered(why);
    if (own) return error;
    onFailure(error, what);
    return answered(within);
  }
}

type Metadata = { [key: string]: unknown };

/** Tokens go no further than the gate: what is left is kept with the task. */
function withoutEntry(given: Metadata | undefined): Metadata {
  // Null, too, where a caller of the handler is not held to its types.
  const metadata = given ?? {};
  if (!Object.hasOwn(metadata, EXTENSION_URI)) return metadata;
  const { [EXTENSION_URI]: _, ...others } = metadata;
  return others;
}

/** Without its entrance in front, the handler does nothing. */
function notLetIn(): A2AError {
  return new A2AError(
    "this request has not come through the guard, which stands before the handler; " +
      "a contextBuilder must keep the request's headers in the state of a context made for it alone",
  );
}
