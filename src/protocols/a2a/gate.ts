import { type Message, Role, SendMessageRequest } from "@a2a-js/sdk";
import { UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { Admission } from "../../agent/admission.js";
import type { Clearance, Refusal } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Operation } from "../../agent/skill.js";
import type { JsonObject } from "../../bytes/json.js";
import type { VerifiedCapability } from "../../capability/authorize.js";
import type { ApprovalTasks } from "./approval-tasks.js";
import type {
  Admitted,
  AdmittedMessage,
  AdmittedSkill,
  AnsweredMessage,
  AuthenticCall,
  Call,
  Sight,
  SkillPermit,
} from "./call.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { denialFault, malformed, throwRefused } from "./errors.js";
import { EXTENSION_URI, METHODS } from "./extension.js";
import type { Need } from "./outline.js";
import { dataPart, newMessage } from "./parts.js";
import { assertWhole, readTaskRequest } from "./task-request.js";

/**
 * Clears messages. A served agent clears skill calls and text messages; a guard clears messages for the
 * operations that they need.
 */
export interface MessageGate {
  /**
   * Clears a message, or returns its answer if nothing has to run.
   *
   * @throws Refused or an A2AError if the message is not allowed.
   */
  message(
    request: SendMessageRequest,
    message: Message | undefined,
    call: AuthenticCall,
  ): Promise<AdmittedMessage | AnsweredMessage>;
}

/**
 * Clears a call of `a2a/skill/invoke`.
 *
 * @throws Refused if the agent refuses the call.
 */
export type SkillGate = (call: AuthenticCall) => Promise<AdmittedSkill>;

/** The parts of the gate, which decides whether calls are allowed. */
export interface Gates {
  readonly agent: IssuingAgent;
  readonly messages: MessageGate;
  readonly skills?: SkillGate;
  /** Tasks that wait for approvals; absent if the agent has no approvals. */
  readonly approvals?: ApprovalTasks | undefined;
  /** The URL where people decide requests. */
  readonly verificationUri?: string | undefined;
}

/**
 * Checks a call.
 *
 * @returns The admitted call.
 *
 * @throws Refused or an A2AError if the call is not allowed. The call then holds no slot and no task.
 */
export async function gate(read: Call, need: Need, gates: Gates): Promise<Admitted> {
  return Object.freeze(await admittedFor(need, read, gates));
}

async function admittedFor(need: Need, read: Call, gates: Gates): Promise<Admitted> {
  if (need === "caller" || need === "card") return { need, call: read };
  const call = await authenticated(read, gates.agent);
  switch (need) {
    case "task":
      return { need, call, sight: await sightOfTask(call, gates) };
    case "skill":
      return gates.skills?.(call) ?? throwRefused(malformed("this agent has no skills to invoke"));
    case "message":
      return messageIn(call, gates);
  }
}

/**
 * Returns the view of the tasks that a call about tasks may see. A task that waits for an approval belongs to
 * the party that made the request, which may have no capability yet.
 *
 * @throws Refused if the agent does not admit the call.
 */
export async function sightOfTask(
  call: AuthenticCall,
  { agent, approvals }: Pick<Gates, "agent" | "approvals">,
): Promise<Sight> {
  const { task } = call.outline;
  if (task === undefined || approvals?.has(task) !== true) return (await admit(call, agent)).sight;
  // Presented capabilities must be valid, even if the call needs none.
  if (call.capabilities.length > 0 || call.declared) await admit(call, agent);
  return approvals.sightOf(call);
}

async function messageIn(
  call: AuthenticCall,
  gates: Gates,
): Promise<AdmittedMessage | AnsweredMessage> {
  const { params, inMessage } = call.outline;
  const request = requestIn(params);
  const { message } = request;
  const taskId = message?.taskId ?? "";
  if (gates.approvals?.has(taskId) === true) {
    throw new UnsupportedOperationError(
      `Task ${taskId} waits for an approval, goes on by itself, and takes no message`,
    );
  }
  if (inMessage === undefined) return gates.messages.message(request, message, call);
  return answerInMessage(request, call, gates);
}

function requestIn(params: JsonObject): SendMessageRequest {
  try {
    return SendMessageRequest.fromJSON(params);
  } catch {
    return throwRefused(malformed("the message is not one of A2A"));
  }
}

/**
 * Answers a message that calls a method about capabilities. If the request waits for an approval, the answer is
 * a task.
 */
async function answerInMessage(
  request: SendMessageRequest,
  call: AuthenticCall,
  { agent, approvals, verificationUri }: Gates,
): Promise<AnsweredMessage> {
  const asked = readTaskRequest(request.message);
  const message = assertWhole(request.message);
  const method = asked.kind === "method" ? CAPABILITY_METHODS.get(asked.method) : undefined;
  if (asked.kind !== "method" || method === undefined || message.taskId !== "") {
    return throwRefused(
      malformed(
        "a message that calls a method about capabilities must have no other content and belong to no task",
      ),
    );
  }
  const waits = asked.method === METHODS.request ? approvals : undefined;
  const answered = { need: "answer", call, request, receiver: undefined } as const;
  const earlier = await waits?.earlier(request, message, call);
  if (earlier !== undefined) return { ...answered, reply: earlier, sight: waits?.sightOf(call) };
  const setting = { requestId: message.messageId, verificationUri };
  const { result, pending } = await method(agent, call.caller, asked.params, setting);
  if (pending !== undefined && waits !== undefined) {
    const { task, isNew } = await waits.begin(message, call, { ...result, pending });
    const receiver = isNew ? request.configuration?.taskPushNotificationConfig : undefined;
    return { ...answered, reply: task, sight: waits.sightOf(call), receiver };
  }
  const reply = newMessage({
    role: Role.ROLE_AGENT,
    parts: [dataPart(result)],
    contextId: message.contextId,
    extensions: [EXTENSION_URI],
  });
  return { ...answered, reply, sight: undefined };
}

/** Verifies the presented tokens, once for all later checks. */
async function authenticated(call: Call, agent: IssuingAgent): Promise<AuthenticCall> {
  const capabilities = await agent.authenticate(call.caller, call.capabilities);
  return Object.freeze({ ...call, capabilities });
}

/** The admission of a call with all presented capabilities, and the view of tasks that it gives. */
interface Entry {
  readonly admission: Admission;
  readonly sight: Sight;
}

/**
 * Admits a call with all presented capabilities.
 *
 * @throws Refused if the agent does not admit the call.
 */
export async function admit(call: AuthenticCall, agent: IssuingAgent): Promise<Entry> {
  const { caller, capabilities, declared } = call;
  const admission = await agent.admit(caller, capabilities, declared);
  if (!admission.allowed) return throwRefused(denialFault(admission.denials));
  const judged = admission.capabilities.map(({ capability }) => capability);
  return { admission, sight: sightOf(call, judged, agent) };
}

/**
 * Returns the view of the tasks that belong to these capabilities. Without capabilities, the tasks belong to
 * the caller's ambient authority.
 */
function sightOf(
  { caller: { principal, invoker }, tenant }: Call,
  capabilities: readonly VerifiedCapability[],
  agent: IssuingAgent,
): Sight {
  const paths = capabilities.map(({ revocationIds }) => revocationIds);
  const covers = agent.coverage(capabilities);
  return {
    tenant,
    access: { principal, invoker, paths, covers },
    expires: Math.min(...capabilities.map(({ expires }) => Date.parse(expires))),
  };
}

/** A clearance, and the view of the tasks that belong to its capability. */
interface Cleared<Of> {
  readonly clearance: Of;
  readonly sight: Sight;
}

/**
 * Waits for a clearance.
 *
 * @throws Refused with every reason if the agent denies the call.
 */
export async function cleared<Of extends Clearance<Operation>>(
  clearing: Promise<Of | Refusal>,
  call: AuthenticCall,
  agent: IssuingAgent,
): Promise<Cleared<Of>> {
  const clearance = await clearing;
  if (!clearance.allowed) return throwRefused(denialFault(clearance.denials));
  const { capability } = clearance;
  return { clearance, sight: sightOf(call, capability === undefined ? [] : [capability], agent) };
}

/**
 * Clears a call of a skill.
 *
 * @throws Refused with every reason if the agent denies the call.
 */
export async function skillPermit(
  asked: { readonly skill: string; readonly arguments: JsonObject },
  call: AuthenticCall,
  agent: IssuingAgent,
): Promise<{ readonly permit: SkillPermit; readonly sight: Sight }> {
  const { skill, arguments: given } = asked;
  const { caller, capabilities, declared } = call;
  const invocation = { skill, arguments: given, capabilities, declared };
  const { clearance, sight } = await cleared(agent.clear(caller, invocation), call, agent);
  return { permit: { kind: "skill", clearance, invocation }, sight };
}
