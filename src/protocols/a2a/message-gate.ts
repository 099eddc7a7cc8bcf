import { type Message, Role, type SendMessageRequest, type Task } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { ConcurrencyLimit } from "../../http/concurrency-limit.js";
import type { TaskStore } from "../../stores/tasks/task-store.js";
import { admit, allowTasks, malformed, presentedBy, refuse, refuseTenant } from "./admission.js";
import { callOf } from "./call-context.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { BUSY, denialFault } from "./errors.js";
import { EXTENSION_URI } from "./extension.js";
import { OpenTasks } from "./open-tasks.js";
import { dataPart, newMessage, unsupportedPart } from "./parts.js";
import { checkTarget, type PushOptions } from "./push-target.js";
import { repeatedTask, taskMessage } from "./repeats.js";
import { readTaskRequest, type TaskRequest } from "./task-request.js";

/** What messages are let through by. */
export interface MessageGateContext {
  readonly agent: IssuingAgent;
  readonly tasks: TaskStore;
  readonly limit: ConcurrencyLimit;
  readonly push: PushOptions | undefined;
}

/** Gives leave to messages: a skill by the agent's gate, words by what their caller presents. */
export class MessageGate {
  readonly #context: MessageGateContext;
  readonly #open: OpenTasks;

  constructor(context: MessageGateContext) {
    this.#context = context;
    this.#open = new OpenTasks(context.tasks);
  }

  /**
   * Gives leave to a message, or answers it at once: if it is about capabilities themselves, or has
   * begun a task before.
   *
   * @throws The error to answer, if there is no leave.
   */
  async enter(
    request: SendMessageRequest,
    context: ServerCallContext,
  ): Promise<Message | Task | undefined> {
    const { message } = request;
    const asked = this.#read(request, context);
    if (asked.kind === "method") return this.#callMethod(asked, message, context);
    const { agent, limit, tasks } = this.#context;
    const call = callOf(context);
    const { presented: capabilities, declared } = await presentedBy(agent, context);
    if (message !== undefined) call.message = message;
    const earlier = message && (await tasks.begunBy(taskMessage(message, context)));
    if (earlier !== undefined) {
      await admit(agent, context);
      return repeatedTask(earlier, tasks, context);
    }
    const release = limit.take(call.caller);
    if (release === undefined) return refuse(BUSY, context);
    call.release = release;
    if (asked.kind === "text") {
      const admission = await admit(agent, context);
      await this.#open.enter(message, context);
      call.leave = { kind: "text", admission, request: asked };
      return undefined;
    }
    const continues = (message?.taskId ?? "") !== "";
    if (continues) {
      await admit(agent, context);
      await this.#open.enter(message, context);
    }
    const { skill, arguments: given } = asked;
    const invocation = { skill, arguments: given, capabilities, declared };
    const clearance = await agent.clear(call.caller, invocation);
    if (!clearance.allowed) return refuse(denialFault(clearance.denials), context);
    const { capability } = clearance;
    if (!continues) allowTasks(agent, capability === undefined ? [] : [capability], context);
    call.leave = { kind: "skill", clearance, invocation };
    return undefined;
  }

  /** What a message asks for. @throws The error to answer, if it asks for nothing that can be done. */
  #read({ message, configuration }: SendMessageRequest, context: ServerCallContext): TaskRequest {
    refuseTenant(context);
    if ((message?.referenceTaskIds.length ?? 0) > MOST_REFERENCES) {
      refuse(malformed(`a message may refer to ${MOST_REFERENCES} tasks`), context);
    }
    const target = configuration?.taskPushNotificationConfig;
    if (target !== undefined) checkTarget(target.url, this.#context.push, context);
    const foreign = unsupportedPart(message?.parts ?? []);
    if (foreign !== undefined) throw new ContentTypeNotSupportedError(foreign);
    const reading = readTaskRequest(message);
    if (!reading.ok) return refuse(malformed(reading.message), context);
    const missing = missingIn(message);
    if (missing !== undefined) refuse(malformed(missing), context);
    return reading.request;
  }

  async #callMethod(
    { method, params }: Extract<TaskRequest, { kind: "method" }>,
    message: Message | undefined,
    context: ServerCallContext,
  ): Promise<Message> {
    if ((message?.taskId ?? "") !== "") {
      refuse(malformed("a method about capabilities belongs to no task"), context);
    }
    const { caller } = callOf(context);
    const outcome = await CAPABILITY_METHODS.get(method)?.(this.#context.agent, caller, params);
    if (outcome?.ok !== true) {
      return refuse(outcome?.fault ?? malformed("there is no such method"), context);
    }
    context.addActivatedExtension(EXTENSION_URI);
    return newMessage({
      role: Role.ROLE_AGENT,
      parts: [dataPart(outcome.result)],
      contextId: message?.contextId ?? "",
      extensions: [EXTENSION_URI],
    });
  }
}

const MOST_REFERENCES = 16;

/** What a message lacks that A2A requires of it (sections 4.1.4 and 5.7). */
function missingIn(message: Message | undefined): string | undefined {
  if ((message?.messageId ?? "") === "") return "message.messageId is required";
  if (message?.role !== Role.ROLE_USER) return "message.role must be ROLE_USER";
  return message.parts.length === 0 ? "message.parts must have at least one part" : undefined;
}
