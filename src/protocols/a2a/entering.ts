import { type Message, Role, SendMessageRequest, type Task } from "@a2a-js/sdk";
import { UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { JsonObject } from "../../bytes/json.js";
import { admit } from "./admission.js";
import type { ApprovalTasks } from "./approval-tasks.js";
import { type Call, contextFor, giveUp } from "./calls.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { malformed, refuse } from "./errors.js";
import { EXTENSION_URI, METHODS } from "./extension.js";
import { dataPart, newMessage } from "./parts.js";
import type { Need, Outline } from "./places.js";
import { missingIn, readTaskRequest } from "./task-request.js";

/** How messages get leave: by skills and words, or by the operations that they need. */
export interface MessageWay {
  /**
   * Gives leave to a message, which is noted in the call of its context; or answers it at once.
   *
   * @throws Refused, or the A2AError to answer, if there is no leave.
   */
  enter(request: SendMessageRequest, context: ServerCallContext): Promise<Task | undefined>;
}

/** What leave is asked of. */
export interface Gates {
  readonly agent: IssuingAgent;
  readonly messages: MessageWay;
  /** The tasks that wait for approvals; absent where none are kept. */
  readonly approvals?: ApprovalTasks | undefined;
  /** Where people decide about what is asked for. */
  readonly verificationUri?: string | undefined;
}

/** A request that has been let in. */
export interface Entered {
  readonly need: Need;
  /**
   * What leave was asked for in; absent once an operation has been called by it, or never will: each request
   * calls one.
   */
  context: ServerCallContext | undefined;
}

/** A request that has been read. */
export interface Read {
  readonly call: Call;
  readonly outline: Outline;
}

/** Asks for leave. @throws Refused, or the A2AError to answer, without it. */
export async function enter(
  need: Need,
  { call, outline: { params, inMessage, task } }: Read,
  tenant: string,
  gates: Gates,
): Promise<Entered & { readonly context: ServerCallContext }> {
  const { agent, messages } = gates;
  const context = contextFor(call, tenant);
  try {
    if (need === "task") await enterTask(task, call, context, gates);
    if (need === "message") {
      call.request = messageIn(params);
      assertNotWaiting(call.request, gates);
      const reply =
        inMessage === undefined
          ? await messages.enter(call.request, context)
          : await answerInMessage(call.request, context, call, gates);
      if (reply !== undefined) call.reply = reply;
    }
  } catch (error) {
    giveUp(call, agent, "refused");
    throw error;
  }
  return { need, context };
}

/** @throws UnsupportedOperationError for a message in a task that goes on by itself. */
function assertNotWaiting({ message }: SendMessageRequest, { approvals }: Gates): void {
  const { taskId = "" } = message ?? {};
  if (approvals?.has(taskId) !== true) return;
  throw new UnsupportedOperationError(
    `Task ${taskId} waits for an approval, goes on by itself, and takes no message`,
  );
}

/**
 * Asks for leave to see a task. One that waits for an approval is its asker's, who may have no capability yet.
 *
 * @throws Refused, or the A2AError to answer, without it.
 */
export async function enterTask(
  task: string | undefined,
  { presented }: Call,
  context: ServerCallContext,
  { agent, approvals }: Pick<Gates, "agent" | "approvals">,
): Promise<void> {
  const isAsked = task !== undefined && approvals?.has(task) === true;
  // What is presented must be sound, also where nothing rests on it.
  const presents = !presented.ok || presented.presented.length > 0 || presented.declared;
  if (!isAsked || presents) await admit(agent, context);
  if (isAsked) approvals.admit(context);
}

function messageIn(params: JsonObject): SendMessageRequest {
  try {
    return SendMessageRequest.fromJSON(params);
  } catch {
    return refuse(malformed("the message is not one of A2A"));
  }
}

/** Answers a message that calls a method about capabilities: with a task, where what it asks for waits. */
async function answerInMessage(
  sent: SendMessageRequest,
  context: ServerCallContext,
  { caller }: Call,
  { agent, approvals, verificationUri }: Gates,
): Promise<Message | Task> {
  const { message } = sent;
  const reading = readTaskRequest(message);
  if (!reading.ok) return refuse(malformed(reading.message));
  const missing = missingIn(message);
  if (missing !== undefined) refuse(malformed(missing));
  const { request } = reading;
  const method = request.kind === "method" ? CAPABILITY_METHODS.get(request.method) : undefined;
  if (request.kind !== "method" || method === undefined || (message?.taskId ?? "") !== "") {
    return refuse(malformed("a method about capabilities stands alone, and belongs to no task"));
  }
  const isRequest = request.method === METHODS.request;
  const earlier = isRequest ? await approvals?.earlier(sent, context) : undefined;
  if (earlier !== undefined) return earlier;
  const requestId = message?.messageId ?? "";
  const outcome = await method(agent, caller, request.params, { requestId, verificationUri });
  if (!outcome.ok) return refuse(outcome.fault);
  context.addActivatedExtension(EXTENSION_URI);
  const { result, pending } = outcome;
  if (pending !== undefined && isRequest && approvals !== undefined) {
    return approvals.begin(sent, context, { ...result, pending });
  }
  return newMessage({
    role: Role.ROLE_AGENT,
    parts: [dataPart(result)],
    contextId: message?.contextId ?? "",
    extensions: [EXTENSION_URI],
  });
}
