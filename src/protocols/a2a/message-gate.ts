import type { Message, SendMessageRequest } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { Caller } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { ConcurrencyLimit } from "../../http/work.js";
import type {
  AdmittedMessage,
  AnsweredMessage,
  AuthenticCall,
  Held,
  Permit,
  Sight,
  SkillPermit,
} from "./call.js";
import { BUSY, malformed, throwRefused } from "./errors.js";
import { admit, type MessageGate, type SkillGate, skillPermit } from "./gate.js";
import { type TaskEntrance, taskEntrance } from "./open-tasks.js";
import { unsupportedPart } from "./parts.js";
import { checkTarget, type PushOptions } from "./push.js";
import { repeatedTask, taskMessage } from "./repeated-messages.js";
import { skillIn } from "./skill-methods.js";
import {
  assertReferences,
  assertWhole,
  readTaskRequest,
  seenOf,
  type TaskRequest,
} from "./task-request.js";
import type { TaskStore } from "./tasks/task-store.js";

export interface MessageGateOptions {
  readonly agent: IssuingAgent;
  readonly tasks: TaskStore;
  readonly limit: ConcurrencyLimit;
  readonly push: PushOptions | undefined;
}

/**
 * Returns the gate for messages. The agent clears skill calls, and admits text messages with the caller's
 * capabilities. A repetition of a message that started a task is answered with that task, and runs nothing.
 */
export function messageGate(options: MessageGateOptions): MessageGate {
  const { agent, tasks, push } = options;
  const goOn = taskEntrance(tasks);
  return {
    async message(request, given, call) {
      const { message, asked } = askedBy(request, given, push);
      const repeated = async (): Promise<AnsweredMessage | undefined> => {
        const earlier = await tasks.begunBy(taskMessage(message, call));
        if (earlier === undefined) return undefined;
        const { sight } = await admit(call, agent);
        const reply = await repeatedTask(earlier, tasks, sight);
        return { need: "answer", call, sight, request, reply, receiver: undefined };
      };
      const known = isAskedFirst(request, message, call) ? await repeated() : undefined;
      if (known !== undefined) return known;
      try {
        // In most cases, storing the task detects a repeated message, so no extra read is needed.
        return await give({ request, message, asked }, call, goOn, options);
      } catch (error) {
        const answered = await repeated();
        if (answered === undefined) throw error;
        return answered;
      }
    },
  };
}

/** Returns the gate for calls of `a2a/skill/invoke`, which run without a task. */
export function skillGate({
  agent,
  limit,
}: Pick<MessageGateOptions, "agent" | "limit">): SkillGate {
  return async (call) => {
    const asked = skillIn(call.outline.params);
    const held: Held = { release: slotOf(limit, call.caller), freeTask: () => {} };
    try {
      const { permit } = await skillPermit(asked, call, agent);
      return { need: "skill", call, permit, held };
    } catch (error) {
      held.release();
      throw error;
    }
  };
}

/**
 * Takes one of the caller's slots for running work.
 *
 * @returns A function that frees the slot.
 * @throws Refused if the caller has no free slot.
 */
function slotOf(limit: ConcurrencyLimit, caller: Caller): () => void {
  return limit.take(caller) ?? throwRefused(BUSY);
}

/** A message with its parsed request. */
interface Sent {
  readonly request: SendMessageRequest;
  readonly message: Message;
  readonly asked: AskedFor;
}

/**
 * Clears a message.
 *
 * @throws Refused or an A2AError if the message is not allowed. The message then holds no slot and no task.
 */
async function give(
  { request, message, asked }: Sent,
  call: AuthenticCall,
  goOn: TaskEntrance,
  { agent, tasks, limit }: MessageGateOptions,
): Promise<AdmittedMessage> {
  const release = slotOf(limit, call.caller);
  let freeTask = (): void => {};
  let cleared: SkillPermit | undefined;
  try {
    let permit: Permit;
    let sight: Sight;
    if (asked.kind === "text") {
      const entry = await admit(call, agent);
      freeTask = await goOn(message, entry.sight);
      permit = { kind: "text", admission: entry.admission, request: asked };
      sight = entry.sight;
    } else {
      const entry = goesOn(message) ? await admit(call, agent) : undefined;
      if (entry !== undefined) freeTask = await goOn(message, entry.sight);
      const given = await skillPermit(asked, call, agent);
      cleared = given.permit;
      permit = given.permit;
      sight = entry?.sight ?? given.sight;
    }
    const sees = async (id: string): Promise<boolean> =>
      (await tasks.load(id, sight)) !== undefined;
    const references = await seenOf(message.referenceTaskIds, sees);
    const held = { release, freeTask };
    return { need: "message", call, sight, permit, held, request, message, references };
  } catch (error) {
    release();
    freeTask();
    if (cleared !== undefined) agent.forgo(cleared.clearance, call.caller, "refused");
    throw error;
  }
}

/**
 * Returns whether to look for an earlier copy of a message before clearing the message. There are three cases:
 * - The message continues a task. If an earlier copy has started, the task may be running or have ended, and
 *   then accepts no message.
 * - The message has a push configuration, which the SDK stores before the task starts.
 * - The binding is HTTP+JSON, which has no answer that says why nothing ran.
 */
function isAskedFirst(
  { configuration }: SendMessageRequest,
  message: Message,
  { binding }: AuthenticCall,
): boolean {
  const pushes = configuration?.taskPushNotificationConfig !== undefined;
  return pushes || goesOn(message) || binding === "rest";
}

/** Returns whether a message continues a task. */
function goesOn({ taskId }: Message): boolean {
  return taskId !== "";
}

type AskedFor = Exclude<TaskRequest, { readonly kind: "method" }>;

/**
 * Parses the request in a message.
 *
 * @throws Refused or an A2AError if the message is invalid.
 */
function askedBy(
  { configuration }: SendMessageRequest,
  given: Message | undefined,
  push: PushOptions | undefined,
): Pick<Sent, "message" | "asked"> {
  assertReferences(given);
  const target = configuration?.taskPushNotificationConfig;
  if (target !== undefined) checkTarget(target.url, push);
  const foreign = unsupportedPart(given?.parts ?? []);
  if (foreign !== undefined) throw new ContentTypeNotSupportedError(foreign);
  const asked = readTaskRequest(given);
  const message = assertWhole(given);
  return asked.kind === "method"
    ? throwRefused(malformed("a message that calls a method must have no other content"))
    : { message, asked };
}
