import { Task, TaskState } from "@a2a-js/sdk";
import type { Stored } from "./stored.js";

/** Before any time that a status can have. */
const NEVER = Number.MIN_SAFE_INTEGER;

const EMPTY: Task = {
  id: "",
  contextId: "",
  status: undefined,
  artifacts: [],
  history: [],
  metadata: undefined,
};

/** What a task's row says of the task itself. */
export interface TaskColumns {
  readonly context: string;
  readonly state: number;
  readonly updated: number;
  readonly bytes: number;
  readonly body: string;
  readonly artifacts: string;
}

export function columnsOf({ artifacts: made, ...rest }: Task): TaskColumns {
  const body = JSON.stringify(Task.toJSON({ ...rest, artifacts: [] }));
  const artifacts = JSON.stringify(Task.toJSON({ ...EMPTY, artifacts: made }));
  return {
    context: JSON.stringify(rest.contextId),
    state: rest.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED,
    updated: timeOf(rest.status?.timestamp) ?? NEVER,
    bytes: Buffer.byteLength(body) + Buffer.byteLength(artifacts),
    body,
    artifacts,
  };
}

/** The task of a row; without its artifacts where the row was read without them. */
export function taskOf(
  { body, artifacts }: { readonly body: unknown; readonly artifacts?: unknown },
  stored: Stored,
): Task {
  const task = stored.task(body, "body");
  if (artifacts === undefined) return task;
  return { ...task, artifacts: stored.task(artifacts, "artifacts").artifacts };
}

/** Milliseconds since 1970 of a status; `undefined` if it has no time, or a malformed one. */
export function timeOf(timestamp: string | undefined): number | undefined {
  const time = timestamp ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Whether something runs in a task of this state. */
export function isRunning(state: number): boolean {
  return RUNNING.includes(state);
}

/** Whether a task of this state waits for a further message. */
export function isWaiting(state: number): boolean {
  return WAITING.includes(state);
}

const WAITING: readonly number[] = [
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
];

const RUNNING: readonly number[] = [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING];
