import { type Message, Role, TaskState } from "@a2a-js/sdk";
import { resultAsJson } from "../../agent/skill-result.js";
import type { Json } from "../../bytes/json.js";

/** How a task in words can stand when it is not done. */
export type TaskAnswerState = "rejected" | "input-required" | "auth-required";

const STATES: Readonly<Record<TaskAnswerState, TaskState>> = {
  rejected: TaskState.TASK_STATE_REJECTED,
  "input-required": TaskState.TASK_STATE_INPUT_REQUIRED,
  "auth-required": TaskState.TASK_STATE_AUTH_REQUIRED,
};

/** What a task in words comes to other than a result, as {@link TaskCall.answer} makes it. */
export class TaskAnswer {
  readonly state: TaskAnswerState;
  readonly message: string;
  readonly data: Json | undefined;

  /**
   * @throws TypeError if there is no such state.
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

/** The state that a task is in by an answer. */
export function taskStateOf({ state }: TaskAnswer): TaskState {
  return STATES[state];
}

/** One earlier message of a task. */
export interface TaskTurn {
  readonly from: "caller" | "agent";
  readonly text: string;
  readonly data: readonly Json[];
}

/** The messages of a task before one of them. */
export function turnsBefore(
  { messageId }: Message,
  history: readonly Message[],
): readonly TaskTurn[] {
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
