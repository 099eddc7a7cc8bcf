import type { SendMessageRequest, Task } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { ConcurrencyLimit } from "../../http/work.js";
import type { TaskStore } from "../../stores/tasks/task-store.js";
import { admit, allowTasks, presentedBy } from "./admission.js";
import { callOf } from "./calls.js";
import type { MessageWay } from "./entering.js";
import { BUSY, denialFault, malformed, refuse } from "./errors.js";
import { OpenTasks } from "./open-tasks.js";
import { unsupportedPart } from "./parts.js";
import { checkTarget, type PushOptions } from "./push-target.js";
import { repeatedTask, taskMessage } from "./repeats.js";
import {
  MOST_REFERENCES,
  missingIn,
  readTaskRequest,
  seenOf,
  type TaskRequest,
} from "./task-request.js";

/** What messages are let through by. */
export interface MessageGateContext {
  readonly agent: IssuingAgent;
  readonly tasks: TaskStore;
  readonly limit: ConcurrencyLimit;
  readonly push: PushOptions | undefined;
}

/** Gives leave to messages: a skill by the agent's gate, words by what their caller presents. */
export class MessageGate implements MessageWay {
  readonly #context: MessageGateContext;
  readonly #open: OpenTasks;

  constructor(context: MessageGateContext) {
    this.#context = context;
    this.#open = new OpenTasks(context.tasks);
  }

  /**
   * Gives leave to a message, or answers it at once if it has begun a task before.
   *
   * @throws Refused, or the A2AError to answer, if there is no leave.
   */
  async enter(request: SendMessageRequest, context: ServerCallContext): Promise<Task | undefined> {
    const { message } = request;
    const asked = this.#read(request);
    const { agent, limit, tasks } = this.#context;
    const call = callOf(context);
    const { presented: capabilities, declared } = await presentedBy(agent, context);
    const earlier = message && (await tasks.begunBy(taskMessage(message, call)));
    if (earlier !== undefined) {
      await admit(agent, context);
      return repeatedTask(earlier, tasks, context);
    }
    const release = limit.take(call.caller);
    if (release === undefined) return refuse(BUSY);
    call.release = release;
    if (asked.kind === "text") {
      const admission = await admit(agent, context);
      await this.#open.enter(message, context);
      call.leave = { kind: "text", admission, request: asked };
      return this.#refer(request, context);
    }
    const continues = (message?.taskId ?? "") !== "";
    if (continues) {
      await admit(agent, context);
      await this.#open.enter(message, context);
    }
    const { skill, arguments: given } = asked;
    const invocation = { skill, arguments: given, capabilities, declared };
    const clearance = await agent.clear(call.caller, invocation);
    if (!clearance.allowed) return refuse(denialFault(clearance.denials));
    const { capability } = clearance;
    if (!continues) allowTasks(agent, capability === undefined ? [] : [capability], context);
    call.leave = { kind: "skill", clearance, invocation };
    return this.#refer(request, context);
  }

  async #refer({ message }: SendMessageRequest, context: ServerCallContext): Promise<undefined> {
    const { tasks } = this.#context;
    const sees = async (id: string): Promise<boolean> =>
      (await tasks.load(id, context)) !== undefined;
    callOf(context).references = await seenOf(message?.referenceTaskIds ?? [], sees);
  }

  /** What a message asks for. @throws The error to answer, if it asks for nothing that can be done. */
  #read({
    message,
    configuration,
  }: SendMessageRequest): Exclude<TaskRequest, { readonly kind: "method" }> {
    if ((message?.referenceTaskIds.length ?? 0) > MOST_REFERENCES) {
      refuse(malformed(`a message may refer to ${MOST_REFERENCES} tasks`));
    }
    const target = configuration?.taskPushNotificationConfig;
    if (target !== undefined) checkTarget(target.url, this.#context.push);
    const foreign = unsupportedPart(message?.parts ?? []);
    if (foreign !== undefined) throw new ContentTypeNotSupportedError(foreign);
    const reading = readTaskRequest(message);
    if (!reading.ok) return refuse(malformed(reading.message));
    const missing = missingIn(message);
    if (missing !== undefined) refuse(malformed(missing));
    const { request } = reading;
    return request.kind === "method" ? refuse(malformed("a method must stand alone")) : request;
  }
}
