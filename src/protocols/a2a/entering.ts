import { type Message, Role, SendMessageRequest, type Task } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { JsonObject } from "../../bytes/json.js";
import { admit } from "./admission.js";
import { type Call, contextFor, giveUp } from "./calls.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { malformed, refuse } from "./errors.js";
import { EXTENSION_URI } from "./extension.js";
import { dataPart, newMessage } from "./parts.js";
import type { Need, Outline } from "./places.js";
import { oddIdIn } from "./plain-ids.js";
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
}

/** A request that has been let in. */
export interface Entered {
  readonly need: Need;
  /** What leave was asked for in. */
  readonly context: ServerCallContext;
  /** Whether an operation has been called by it: each request calls one. */
  taken: boolean;
}

/** A request that has been read. */
export interface Read {
  readonly call: Call;
  readonly outline: Outline;
}

/** Asks for leave. @throws Refused, or the A2AError to answer, if there is none. */
export async function enter(
  need: Need,
  { call, outline: { params, inMessage } }: Read,
  tenant: string,
  { agent, messages }: Gates,
): Promise<Entered> {
  const context = contextFor(call, tenant);
  try {
    if (need === "task") await admit(agent, context);
    if (need === "message") {
      call.request = messageIn(params);
      const reply =
        inMessage === undefined
          ? await messages.enter(call.request, context)
          : await answerInMessage(call.request, context, call, agent);
      if (reply !== undefined) call.reply = reply;
    }
  } catch (error) {
    giveUp(call, agent, "refused");
    throw error;
  }
  return { need, context, taken: false };
}

function messageIn(params: JsonObject): SendMessageRequest {
  const request = readMessage(params);
  const problem = request.message && oddIdIn(request.message);
  return problem === undefined ? request : refuse(malformed(problem));
}

function readMessage(params: JsonObject): SendMessageRequest {
  try {
    return SendMessageRequest.fromJSON(params);
  } catch {
    return refuse(malformed("the message is not one of A2A"));
  }
}

/** Answers a message that calls a method about capabilities. */
async function answerInMessage(
  { message }: SendMessageRequest,
  context: ServerCallContext,
  { caller }: Call,
  agent: IssuingAgent,
): Promise<Message> {
  const reading = readTaskRequest(message);
  if (!reading.ok) return refuse(malformed(reading.message));
  const missing = missingIn(message);
  if (missing !== undefined) refuse(malformed(missing));
  const { request } = reading;
  const method = request.kind === "method" ? CAPABILITY_METHODS.get(request.method) : undefined;
  if (request.kind !== "method" || method === undefined || (message?.taskId ?? "") !== "") {
    return refuse(malformed("a method about capabilities stands alone, and belongs to no task"));
  }
  const outcome = await method(agent, caller, request.params);
  if (!outcome.ok) return refuse(outcome.fault);
  context.addActivatedExtension(EXTENSION_URI);
  return newMessage({
    role: Role.ROLE_AGENT,
    parts: [dataPart(outcome.result)],
    contextId: message?.contextId ?? "",
    extensions: [EXTENSION_URI],
  });
}
