import type { Message, SendMessageRequest, Task } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { ConcurrencyLimit } from "../../http/work.js";
import type { TaskStore } from "../../stores/tasks/task-store.js";
import { admit, cleared, presentedBy } from "./admission.js";
import { callOf, giveUp } from "./calls.js";
import type { MessageWay } from "./entering.js";
import { BUSY, malformed, refuse } from "./errors.js";
import { taskEntrance } from "./open-tasks.js";
import { unsupportedPart } from "./parts.js";
import { checkTarget, type PushOptions } from "./push-target.js";
import { repeatedTask, taskMessage } from "./repeats.js";
import {
  assertReferences,
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

/**
 * Gives leave to messages: a skill by the agent's gate, words by what their caller presents. A message that
 * has begun a task before is answered at once.
 */
export function messageGate({ agent, tasks, limit, push }: MessageGateContext): MessageWay {
  const goOn = taskEntrance(tasks);
  const refer = async (message: Message | undefined, context: ServerCallContext): Promise<void> => {
    const sees = async (id: string): Promise<boolean> =>
      (await tasks.load(id, context)) !== undefined;
    callOf(context).references = await seenOf(message?.referenceTaskIds ?? [], sees);
  };
  const give = async (
    message: Message | undefined,
    asked: AskedFor,
    context: ServerCallContext,
  ): Promise<void> => {
    const call = callOf(context);
    const { presented: capabilities, declared } = await presentedBy(agent, context);
    const release = limit.take(call.caller);
    if (release === undefined) return refuse(BUSY);
    call.release = release;
    const continues = goesOn(message);
    if (asked.kind === "text" || continues) {
      const admission = await admit(agent, context);
      await goOn(message, context);
      if (asked.kind === "text") {
        call.leave = { kind: "text", admission, request: asked };
        return refer(message, context);
      }
    }
    const { skill, arguments: given } = asked;
    const invocation = { skill, arguments: given, capabilities, declared };
    const clearing = agent.clear(call.caller, invocation);
    const clearance = await cleared(clearing, continues, agent, context);
    call.leave = { kind: "skill", clearance, invocation };
    return refer(message, context);
  };
  const repeated = async (
    message: Message | undefined,
    context: ServerCallContext,
  ): Promise<Task | undefined> => {
    const earlier = message && (await tasks.begunBy(taskMessage(message, callOf(context))));
    if (earlier === undefined) return undefined;
    await admit(agent, context);
    return repeatedTask(earlier, tasks, context);
  };
  return {
    async enter(request, context) {
      const { message } = request;
      const asked = askedBy(request, push);
      const known = isAskedFirst(request, context) ? await repeated(message, context) : undefined;
      if (known !== undefined) return known;
      try {
        await give(message, asked, context);
        // Whether another message came before comes out when its task begins, without a read of its own.
        return undefined;
      } catch (error) {
        giveUp(callOf(context), agent, "refused");
        const task = await repeated(message, context);
        if (task === undefined) throw error;
        return task;
      }
    },
  };
}

/**
 * Whether it is asked before all else whether a message came before. One that goes on with a task would be refused
 * because of that task; the SDK keeps a push configuration before a task begins; and over HTTP+JSON it has no answer
 * that says why nothing did.
 */
function isAskedFirst(
  { message, configuration }: SendMessageRequest,
  context: ServerCallContext,
): boolean {
  const pushes = configuration?.taskPushNotificationConfig !== undefined;
  return pushes || goesOn(message) || callOf(context).binding === "rest";
}

/** Whether a message goes on with a task. */
function goesOn(message: Message | undefined): boolean {
  return (message?.taskId ?? "") !== "";
}

type AskedFor = Exclude<TaskRequest, { readonly kind: "method" }>;

/** What a message asks for. @throws The error to answer, if it asks for nothing that can be done. */
function askedBy(
  { message, configuration }: SendMessageRequest,
  push: PushOptions | undefined,
): AskedFor {
  assertReferences(message);
  const target = configuration?.taskPushNotificationConfig;
  if (target !== undefined) checkTarget(target.url, push);
  const foreign = unsupportedPart(message?.parts ?? []);
  if (foreign !== undefined) throw new ContentTypeNotSupportedError(foreign);
  const reading = readTaskRequest(message);
  if (!reading.ok) return refuse(malformed(reading.message));
  const missing = missingIn(message);
  if (missing !== undefined) refuse(malformed(missing));
  const { request } = reading;
  return request.kind === "method" ? refuse(malformed("a method must stand alone")) : request;
}
