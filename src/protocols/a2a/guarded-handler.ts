import type {
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
} from "@a2a-js/sdk";
import { A2AError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler as Operations, ServerCallContext } from "@a2a-js/sdk/server";
import { useOf } from "../../agent/coverage.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { ApprovalTasks } from "./approval-tasks.js";
import {
  type Admitted,
  type AdmittedCalls,
  type AdmittedMessage,
  type AnsweredMessage,
  type AuthenticCall,
  giveUp,
  type OperationCall,
  type OperationName,
} from "./call.js";
import { whileAllowed } from "./connection.js";
import { type Fault, failedWithin, fault, faultOf, isOfStore, sdkError } from "./errors.js";
import { EXTENSION_URI } from "./extension.js";
import { admit, sightOfTask } from "./gate.js";
import { hasEnded } from "./open-tasks.js";
import { progressOf } from "./progress.js";
import { follow, taskIdOf } from "./repeated-messages.js";
import { UNSTORED } from "./task-endings.js";
import { recordUse, setTaskAccess } from "./tasks/task-access.js";
import type { Visibility } from "./visibility.js";

export interface GuardedHandlerOptions {
  readonly agent: IssuingAgent;
  readonly calls: AdmittedCalls;
  /** The handler that performs admitted operations. */
  readonly inner: Operations;
  /** Determines which tasks a request may see; if absent, the task store of `inner` determines that. */
  readonly visibility?: Visibility | undefined;
  /** Tasks that wait for approvals; absent if the agent has no approvals. */
  readonly approvals?: ApprovalTasks | undefined;
  /** Called with each internal error. The client learns only that an error occurred. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/**
 * An SDK request handler behind the gate. It performs only admitted calls. It runs exactly the cleared message,
 * without the presented capabilities.
 */
export class GuardedHandler implements Operations {
  readonly #options: GuardedHandlerOptions;
  readonly #inner: Operations;

  constructor(options: GuardedHandlerOptions) {
    this.#options = options;
    this.#inner = options.inner;
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
    this.#shielded("message", context, async (admitted) => {
      if (admitted.need === "answer") return this.#replied(admitted, context);
      const request = await this.#begun(admitted, context, tenant);
      const answer = await this.#inner.sendMessage(request, context);
      if ("artifacts" in answer) this.#options.visibility?.note(answer.id, context);
      return answer;
    });

  sendMessageStream(
    { tenant }: Parameters<Operations["sendMessageStream"]>[0],
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const admitted = this.#options.calls.take("message", context);
    const events =
      admitted.need === "answer"
        ? this.#replies(admitted, context)
        : this.#running(admitted, context, tenant);
    return this.#shieldedStream("message", admitted, context, events);
  }

  async *#running(
    admitted: AdmittedMessage,
    context: ServerCallContext,
    tenant: string,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { call, sight } = admitted;
    const request = await this.#begun(admitted, context, tenant);
    const allowance = {
      expires: sight.expires,
      connection: call.connection,
      // A stream that follows the task of an earlier message is checked like a subscription.
      again: async () =>
        progressOf(context).at === "repeated" ? this.#admitAgain(call, context) : sight.expires,
    };
    const events = this.#inner.sendMessageStream(request, context);
    for await (const event of whileAllowed(events, allowance)) {
      const id = taskIdOf(event);
      if (id !== "") this.#options.visibility?.note(id, context);
      yield event;
    }
  }

  async *#replies(
    admitted: AnsweredMessage,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { call, sight } = admitted;
    const { approvals } = this.#options;
    const { connection } = call;
    const expires = sight?.expires ?? Number.POSITIVE_INFINITY;
    const reply = await this.#replied(admitted, context);
    if ("artifacts" in reply && approvals?.has(reply.id) === true) {
      const events = approvals.stream(reply, context);
      return yield* whileAllowed(events, { expires, connection, again: async () => expires });
    }
    const again = (): Promise<number> => this.#admitAgain(call, context);
    const events = follow(reply, this.#inner, context);
    return yield* whileAllowed(events, { expires, connection, again });
  }

  /**
   * Returns the answer to a message that runs nothing. If the answer is a task that waits for an approval,
   * starts waiting for the approval.
   */
  async #replied(
    { reply, receiver }: AnsweredMessage,
    context: ServerCallContext,
  ): Promise<Message | Task> {
    const { approvals } = this.#options;
    if ("artifacts" in reply && approvals?.has(reply.id) === true) {
      await approvals.waitFor(reply, receiver, context);
    }
    return reply;
  }

  /**
   * Admits a call again.
   *
   * @returns The earliest expiry among the call's capabilities, in milliseconds since 1970.
   * @throws Refused if the agent no longer admits the call.
   */
  async #admitAgain(call: AuthenticCall, context: ServerCallContext): Promise<number> {
    const { sight } = await admit(call, this.#options.agent);
    setTaskAccess(context, sight.access);
    return sight.expires;
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

  resubscribe(
    params: Parameters<Operations["resubscribe"]>[0],
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const admitted = this.#options.calls.take("task", context);
    const events = this.#followed(params, admitted, context);
    return this.#shieldedStream("task", admitted, context, events);
  }

  async *#followed(
    params: Parameters<Operations["resubscribe"]>[0],
    { call, sight: { expires } }: OperationCall<"task">,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    await this.#assertVisible(params.id, context);
    const again = async (): Promise<number> => {
      const sight = await sightOfTask(call, this.#options);
      setTaskAccess(context, sight.access);
      await this.#assertVisible(params.id, context);
      return sight.expires;
    };
    const events = this.#inner.resubscribe(params, context);
    yield* whileAllowed(events, { expires, connection: call.connection, again });
  }

  readonly createTaskPushNotificationConfig: Operations["createTaskPushNotificationConfig"] =
    this.#ofTask((...given) => this.#inner.createTaskPushNotificationConfig(...given));

  readonly getTaskPushNotificationConfig: Operations["getTaskPushNotificationConfig"] =
    this.#ofTask((...given) => this.#inner.getTaskPushNotificationConfig(...given));

  readonly listTaskPushNotificationConfigs: Operations["listTaskPushNotificationConfigs"] =
    this.#ofTask((...given) => this.#inner.listTaskPushNotificationConfigs(...given));

  readonly deleteTaskPushNotificationConfig: Operations["deleteTaskPushNotificationConfig"] =
    this.#ofTask((...given) => this.#inner.deleteTaskPushNotificationConfig(...given));

  /** Returns a function that performs an operation on the push configurations of a task. */
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
    // The SDK itself refuses an empty id.
    if (visibility === undefined || id.trim() === "") return;
    if (await visibility.sees(id, context, ended)) return;
    throw new TaskNotFoundError(`Task not found: ${id}`);
  }

  #listed(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const { visibility } = this.#options;
    if (visibility === undefined) return this.#inner.listTasks(params, context);
    return visibility.list(params, context, this.#inner);
  }

  /**
   * Returns the request to run, with the cleared message. If the message was cleared for an operation, checks
   * its capability again first.
   */
  async #begun(
    { permit, call, request, message, references }: AdmittedMessage,
    context: ServerCallContext,
    tenant: string,
  ): Promise<SendMessageRequest> {
    // For a skill, `IssuingAgent.run` checks the capability again once the task is stored.
    if (permit.kind === "operation") {
      const use = useOf(permit.clearance);
      if (use !== undefined) recordUse(context, use);
      await this.#options.agent.begin(permit.clearance, call.caller);
    }
    const { configuration, metadata } = request;
    return {
      tenant,
      configuration,
      message: { ...message, referenceTaskIds: [...references] },
      metadata: withoutEntry(metadata),
    };
  }

  async #shielded<T, Of extends OperationName>(
    operation: Of,
    context: ServerCallContext,
    work: (admitted: OperationCall<Of>) => Promise<T>,
  ): Promise<T> {
    const admitted = this.#options.calls.take(operation, context);
    try {
      return await work(admitted);
    } catch (error) {
      throw this.#shown(operation, admitted, context, error).error;
    }
  }

  /**
   * Passes a stream on. This method itself sends an error that occurs after the first event, as the last event,
   * because the SDK would also print the error.
   */
  async *#shieldedStream(
    operation: OperationName,
    admitted: Admitted,
    context: ServerCallContext,
    events: AsyncIterable<StreamResponse>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    let hasBegun = false;
    try {
      for await (const event of events) {
        hasBegun = true;
        yield event;
      }
    } catch (thrown) {
      const { error, why } = this.#shown(operation, admitted, context, thrown);
      if (!hasBegun) throw error;
      admitted.call.connection.endStream(why);
    }
  }

  /** Converts an error to the error that the SDK answers with. Hides internal errors. */
  #shown(
    what: string,
    admitted: Admitted,
    context: ServerCallContext,
    error: unknown,
  ): { readonly error: unknown; readonly why: Fault } {
    const { agent, onFailure } = this.#options;
    const { binding, connection } = admitted.call;
    const isUnstored = progressOf(context).at === "not-stored";
    const known = isUnstored ? NOT_STORED : faultOf(error);
    if (known === undefined) onFailure(error, what);
    const why = known ?? failedWithin(error);
    giveUp(admitted, agent, why.info.reason.toLowerCase());
    // Errors of the SDK itself are answered as they would be without a guard.
    const isOfSdk = error instanceof A2AError && !isOfStore(error);
    if (isOfSdk && !isUnstored) return { error, why };
    connection.setHeaders(why);
    return { error: sdkError(why, binding), why };
  }
}

const NOT_STORED: Fault = fault(-32603, UNSTORED.text, UNSTORED.reason);

type Metadata = { [key: string]: unknown };

/**
 * Removes the extension's entry from metadata. The entry may contain tokens, and the SDK stores metadata with
 * the task.
 */
function withoutEntry(given: Metadata | undefined): Metadata {
  // `given` is null if code that calls the handler ignores the types.
  const metadata = given ?? {};
  if (!Object.hasOwn(metadata, EXTENSION_URI)) return metadata;
  const { [EXTENSION_URI]: _, ...others } = metadata;
  return others;
}
