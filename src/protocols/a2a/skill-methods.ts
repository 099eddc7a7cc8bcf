import { TaskState, taskStateToJSON } from "@a2a-js/sdk";
import { type A2ARequestHandler, defaultServerCallContextBuilder } from "@a2a-js/sdk/server";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { isJsonObject, type JsonObject } from "../../bytes/json.js";
import { isPlainText, LONGEST_ID } from "./answer.js";
import { type AuthorityMarks, authorityMarks } from "./authority-marks.js";
import type { Admitted, AdmittedCalls, AdmittedSkill } from "./call.js";
import { assertMembersOf } from "./capability-methods.js";
import { denialFault, fault, malformed, throwRefused } from "./errors.js";
import { ERROR_CODES, EXTENSION_URI } from "./extension.js";
import { asMessage } from "./outline.js";
import type { OwnMethod } from "./own-methods.js";
import { type Ending, endingOf, keptEnding, type RunLimits } from "./task-endings.js";

export interface SkillMethodOptions extends RunLimits {
  readonly agent: IssuingAgent;
  readonly calls: AdmittedCalls;
  readonly handler: Pick<A2ARequestHandler, "sendMessage">;
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
 * Returns the method `a2a/skill/invoke`, which runs one skill. `params` has the `skill`, its
 * `arguments`, and the capability as `capabilityId`, `token` or `capabilities`. With a `messageId`, the call
 * runs in a stored task. If a client repeats such a call, the agent finds the task and runs nothing.
 */
export function invokeMethod(options: SkillMethodOptions): OwnMethod {
  return (call) => {
    const { params } = call.outline;
    assertMembersOf(params, MEMBERS);
    const { messageId } = params;
    if (messageId === undefined) {
      return { call, need: "skill", run: (admitted) => runAtOnce(admitted, options) };
    }
    if (typeof messageId !== "string" || messageId === "" || !isPlainText(messageId)) {
      const wanted = `1 to ${LONGEST_ID} printable characters, unique to this call`;
      return throwRefused(malformed(`"messageId" must be a string of ${wanted}`));
    }
    const { skill, arguments: given } = skillIn(params);
    const data = { skill, arguments: given };
    const message = { messageId, role: "ROLE_USER", parts: [{ data }] };
    return {
      call: { ...call, outline: asMessage(call.outline, { message }) },
      need: "message",
      run: (admitted) => runInTask(admitted, options),
    };
  };
}

/**
 * Returns the skill's id and arguments.
 *
 * @throws Refused if a parameter is invalid.
 */
export function skillIn(params: JsonObject): {
  readonly skill: string;
  readonly arguments: JsonObject;
} {
  const { skill, arguments: given = {} } = params;
  if (typeof skill !== "string")
    return throwRefused(malformed('"skill" must be the id of a skill'));
  if (!isJsonObject(given)) return throwRefused(malformed('"arguments" must be an object'));
  return { skill, arguments: given };
}

async function runAtOnce(admitted: Admitted, options: SkillMethodOptions): Promise<object> {
  const { agent } = options;
  const { permit, held, call } = skillOf(admitted);
  const ending = await endingOf(
    {
      what: permit.invocation.skill,
      work: (signal) => agent.run(permit.clearance, call.caller, { signal }),
      release: held.release,
    },
    options,
  );
  return resultOf(ending, authorityMarks(permit, agent));
}

function skillOf(admitted: Admitted): AdmittedSkill {
  if (admitted.need === "skill") return admitted;
  throw new TypeError("the gate has let no skill in");
}

async function runInTask(
  admitted: Admitted,
  { calls, handler }: SkillMethodOptions,
): Promise<object> {
  if (admitted.need !== "message" && admitted.need !== "answer") {
    throw new TypeError("the gate has let no message in");
  }
  const context = defaultServerCallContextBuilder({
    user: calls.add(admitted),
    extensions: [EXTENSION_URI],
    headers: {},
    requestedVersion: "1.0",
  });
  const task = await handler.sendMessage(admitted.request, context);
  if (!("artifacts" in task)) throw new TypeError("a skill is answered with a task");
  return resultOf(keptEnding(task), task.metadata?.[EXTENSION_URI], task.id);
}

/**
 * Converts a skill's outcome to the result of its call.
 *
 * @throws Refused if the skill was rejected, or did not complete.
 */
function resultOf(
  { state, result, text = "it did not complete", reason = "skill_failed", denials }: Ending,
  marks: AuthorityMarks,
  task?: string,
): object {
  const more: Record<string, string> = task === undefined ? {} : { task };
  const metadata = { [EXTENSION_URI]: marks };
  if (state === TaskState.TASK_STATE_COMPLETED) return { result, ...more, metadata };
  if (state === TaskState.TASK_STATE_WORKING) {
    return { state: taskStateToJSON(state), ...more, metadata };
  }
  if (denials !== undefined) return throwRefused(denialFault(denials));
  if (state === TaskState.TASK_STATE_REJECTED) return throwRefused(malformed(text));
  return throwRefused(fault(CODES[reason] ?? -32603, text, reason, more));
}

const CODES: Readonly<Record<string, number>> = {
  timed_out: ERROR_CODES.timedOut,
  unavailable: ERROR_CODES.unavailable,
};
