import { SendMessageRequest, TaskState, taskStateToJSON } from "@a2a-js/sdk";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import type { ConcurrencyLimit } from "../../http/work.js";
import { isPlainText, LONGEST_ID } from "./answer.js";
import { type AuthorityMarks, authorityMarks } from "./authority-marks.js";
import type { Call } from "./calls.js";
import { invalidParams, type MethodOutcome, unknownIn } from "./capability-methods.js";
import { enter, type Gates } from "./entering.js";
import { BUSY, denialFault, fault } from "./errors.js";
import { ERROR_CODES, EXTENSION_URI } from "./extension.js";
import type { GuardedHandler } from "./guarded-handler.js";
import { outlineOf } from "./places.js";
import { type Ending, endingOf, keptEnding, type Run, type RunLimits } from "./task-endings.js";

/** What the methods that run something rest on. */
export interface SkillMethodContext extends RunLimits, Gates {
  readonly handler: GuardedHandler;
  readonly limit: ConcurrencyLimit;
}

const MEMBERS = [
  "skill",
  "arguments",
  "messageId",
  "capabilityId",
  "token",
  "capabilities",
  "metadata",
];

/**
 * `a2a/skill/invoke`: one skill, at once. `params`: `skill`, `arguments`, and the capability as
 * `capabilityId`, `token`, or `capabilities`. With a `messageId` it is a task that is kept, so that it is
 * safe to try again.
 */
export async function invokeSkill(
  call: Call,
  params: JsonObject,
  context: SkillMethodContext,
): Promise<MethodOutcome> {
  const unknown = unknownIn(params, MEMBERS);
  if (unknown !== undefined) return unknown;
  const { skill, arguments: given = {}, messageId } = params;
  if (typeof skill !== "string") return invalidParams('"skill" must be the id of a skill');
  if (!isJsonObject(given)) return invalidParams('"arguments" must be an object');
  const { caller, presented } = call;
  if (!presented.ok) return invalidParams(presented.message);
  if (messageId !== undefined) return invokeOnce(call, messageId, skill, given, context);
  const { agent, limit } = context;
  const release = limit.take(caller);
  if (release === undefined) return { ok: false, fault: BUSY };
  const { presented: capabilities, declared } = presented;
  const invocation = { skill, arguments: given, capabilities, declared };
  const clearance = await agent.clear(caller, invocation).catch((error: unknown) => {
    release();
    throw error;
  });
  if (!clearance.allowed) {
    release();
    return { ok: false, fault: denialFault(clearance.denials) };
  }
  const work: Run["work"] = (signal) => agent.run(clearance, caller, { signal });
  const ending = await endingOf({ what: skill, work, release }, context);
  return outcomeOf(ending, authorityMarks({ kind: "skill", clearance, invocation }, agent));
}

/** Calls a skill in a task of its own: the same call again finds the task, and runs nothing. */
async function invokeOnce(
  call: Call,
  messageId: Json,
  skill: string,
  given: JsonObject,
  { handler, ...context }: SkillMethodContext,
): Promise<MethodOutcome> {
  if (typeof messageId !== "string" || messageId === "" || !isPlainText(messageId)) {
    const wanted = `1 to ${LONGEST_ID} printable characters, unique to this call`;
    return invalidParams(`"messageId" must be a string of ${wanted}`);
  }
  const message = { messageId, role: "ROLE_USER", parts: [{ data: { skill, arguments: given } }] };
  const body = { method: "SendMessage", params: { message } };
  const outline = outlineOf({ binding: "jsonrpc", verb: "POST", path: "/", query: {}, body });
  const entered = await enter("message", { call, outline }, "", context);
  const request = SendMessageRequest.fromJSON({ message });
  handler.letIn(entered.context, entered);
  const task = await handler.sendMessage(request, entered.context);
  if (!("artifacts" in task)) throw new TypeError("a skill is answered with a task");
  return outcomeOf(keptEnding(task), task.metadata?.[EXTENSION_URI], task.id);
}

/** What a skill has come to, as an answer to a call of it. */
function outcomeOf(
  { state, result, text = "it did not complete", reason = "skill_failed", denials }: Ending,
  marks: AuthorityMarks,
  task?: string,
): MethodOutcome {
  const more = task === undefined ? {} : { task };
  const metadata = { [EXTENSION_URI]: marks };
  if (state === TaskState.TASK_STATE_COMPLETED) {
    return { ok: true, result: { result, ...more, metadata } };
  }
  if (state === TaskState.TASK_STATE_WORKING) {
    return { ok: true, result: { state: taskStateToJSON(state), ...more, metadata } };
  }
  if (denials !== undefined) return { ok: false, fault: denialFault(denials) };
  if (state === TaskState.TASK_STATE_REJECTED) return invalidParams(text);
  return { ok: false, fault: fault(CODES[reason] ?? -32603, text, reason, more) };
}

const CODES: Readonly<Record<string, number>> = {
  timed_out: ERROR_CODES.timedOut,
  unavailable: ERROR_CODES.unavailable,
};
