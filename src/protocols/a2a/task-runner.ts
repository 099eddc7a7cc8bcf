import { type Message, Role, TaskState } from "@a2a-js/sdk";
import type { RequestContext } from "@a2a-js/sdk/server";
import type { Caller } from "../../agent/caller.js";
import type { InvocationOutcome } from "../../agent/clearance.js";
import { useOf } from "../../agent/coverage.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AdmittedCapability } from "../../agent/presented.js";
import { resultAsJson } from "../../agent/skill-result.js";
import type { Json } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import type { TextPermit } from "./call.js";
import { recordUse } from "./tasks/task-access.js";

/**
 * A text message, with functions for the runner that handles it. These functions allow no more than the caller
 * may do.
 */
export interface TaskCall {
  readonly taskId: string;
  readonly text: string;
  readonly data: readonly Json[];
  /** Earlier messages of this task, oldest first; empty in a new task. */
  readonly earlier: readonly TaskTurn[];
  readonly caller: Caller;
  /** The capabilities that came with the message; empty for ambient authority. */
  readonly capabilities: readonly { readonly id: string; readonly grant: string }[];
  /** Calls a skill with the task's capabilities. The agent checks the call like every other call. */
  invoke(skill: string, given: { readonly [name: string]: Json }): Promise<InvocationOutcome>;
  /**
   * Returns the tokens of the task's capabilities, each narrowed by a hop, for a task at another agent.
   * Capabilities that do not allow what the hop names are omitted.
   *
   * @throws TypeError if the hop is invalid.
   */
  delegate(hop: HopInit): readonly { readonly id: string; readonly token: string }[];
  /**
   * Creates an answer that a runner returns instead of a result. It says why the task is not done, or what the
   * task waits for. After `input-required` or `auth-required`, the caller continues the task with a message
   * that names the task.
   *
   * @param message - The text for the caller.
   * @param data - The same information for programs, such as the denials of a refused skill.
   */
  answer(state: TaskAnswerState, message: string, data?: Json): TaskAnswer;
  /** Aborted when the task is cancelled, takes too long, or has been answered. */
  readonly signal: AbortSignal;
}

/**
 * Handles text messages. The returned value is the result and completes the task, unless it is a {@link
 * TaskAnswer}.
 */
export type TaskRunner = (task: TaskCall) => Promise<Json | TaskAnswer>;

/** Returns the argument for a {@link TaskRunner}. */
export function taskCallOf(
  { admission, request }: TextPermit,
  { taskId, task, userMessage, context }: RequestContext,
  agent: IssuingAgent,
  signal: AbortSignal,
): TaskCall {
  const { caller, declared, capabilities: admitted } = admission;
  const capabilities = admitted.map(({ presented }) => presented);
  return {
    taskId,
    caller,
    signal,
    text: request.text,
    data: request.data,
    earlier: turnsBefore(userMessage, task?.history ?? []),
    answer: (state, message, data) => new TaskAnswer(state, message, data),
    capabilities: admitted.map(({ capability: { id, grant } }) => ({ id, grant })),
    invoke: (skill, given) =>
      agent.invoke(
        caller,
        { skill, arguments: given, capabilities, declared },
        signal,
        (clearance) => {
          const use = useOf(clearance);
          if (use !== undefined) recordUse(context, use);
        },
      ),
    delegate: (hop) => {
      signal.throwIfAborted();
      return narrowed(admitted, hop, agent);
    },
  };
}

/**
 * Returns the tokens of capabilities, each narrowed by a hop. Omits capabilities that do not allow what the hop
 * names.
 */
export function narrowed(
  capabilities: readonly AdmittedCapability[],
  hop: HopInit,
  { issuer }: IssuingAgent,
): readonly { readonly id: string; readonly token: string }[] {
  return capabilities.flatMap(({ presented, capability: { id } }) => {
    const attenuation = issuer.extend(presented.token, hop);
    return attenuation.ok ? [{ id, token: attenuation.token }] : [];
  });
}

/** The states of a task that a text message did not complete. */
export type TaskAnswerState = "rejected" | "input-required" | "auth-required";

const STATES: Readonly<Record<TaskAnswerState, TaskState>> = {
  rejected: TaskState.TASK_STATE_REJECTED,
  "input-required": TaskState.TASK_STATE_INPUT_REQUIRED,
  "auth-required": TaskState.TASK_STATE_AUTH_REQUIRED,
};

/** An outcome other than a result, made by {@link TaskCall.answer}. */
export class TaskAnswer {
  readonly state: TaskAnswerState;
  readonly message: string;
  readonly data: Json | undefined;

  /**
   * @throws TypeError if the state is unknown.
   * @throws SkillResultError if the data cannot be written as JSON.
   */
  constructor(state: TaskAnswerState, message: string, data?: Json) {
    if (!Object.hasOwn(STATES, state)) {
      throw new TypeError(`state: must be one of ${Object.keys(STATES).join(", ")}`);
    }
    if (typeof message !== "string") throw new TypeError("message: must be a string");
    this.state = state;
    this.message = message;
    this.data = data === undefined ? undefined : resultAsJson(data);
  }
}

/** Returns the task state for an answer. */
export function taskStateOf({ state }: TaskAnswer): TaskState {
  return STATES[state];
}

/** An earlier message of a task. */
export interface TaskTurn {
  readonly from: "caller" | "agent";
  readonly text: string;
  readonly data: readonly Json[];
}

/** Returns all messages of a task except the given one. */
function turnsBefore({ messageId }: Message, history: readonly Message[]): readonly TaskTurn[] {
  return history.filter((message) => message.messageId !== messageId).map(turnOf);
}

function turnOf({ role, parts }: Message): TaskTurn {
  const texts: string[] = [];
  const data: Json[] = [];
  for (const { content } of parts) {
    if (content?.$case === "text") texts.push(content.value);
    else if (content?.$case === "data") data.push(content.value ?? null);
  }
  return { from: role === Role.ROLE_AGENT ? "agent" : "caller", text: texts.join("\n"), data };
}
