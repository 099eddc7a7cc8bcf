import { type Message, type Task, TaskState } from "@a2a-js/sdk";
import { TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { malformed, throwRefused } from "./errors.js";
import type { TaskView } from "./tasks/task-access.js";
import type { TaskStore } from "./tasks/task-store.js";

/**
 * Admits a message to the task that it continues, if any.
 *
 * @returns A function that admits the next message.
 * @throws Refused or an A2AError if the task accepts no message at present.
 */
export type TaskEntrance = (message: Message, sight: TaskView) => Promise<() => void>;

/**
 * Admits one message at a time to a task, and refuses others. The SDK would notice only after gate and ledger
 * have admitted the run, and two messages in one task would overwrite each other's work.
 */
export function taskEntrance(tasks: TaskStore): TaskEntrance {
  /** Ids of tasks that are being continued. */
  const continued = new Set<string>();
  return async ({ taskId: id, contextId }, sight) => {
    if (id === "") return () => {};
    const unknown = `Task not found: ${id.slice(0, 64)}`;
    if ((await tasks.load(id, sight)) === undefined) throw new TaskNotFoundError(unknown);
    if (continued.has(id)) throw underWay(id);
    continued.add(id);
    let isIn = true;
    const free = (): void => {
      // Only once, since the next message may be in the task by then.
      if (isIn) continued.delete(id);
      isIn = false;
    };
    try {
      // Read the task again: it may have changed before this message was admitted.
      const task = await tasks.load(id, sight);
      if (task === undefined) throw new TaskNotFoundError(unknown);
      assertGoesOn(task, contextId);
    } catch (error) {
      free();
      throw error;
    }
    return free;
  };
}

/** @throws Refused or an A2AError if the task accepts no message of this conversation. */
function assertGoesOn(task: Task, contextId: string): void {
  const { id } = task;
  if (contextId !== "" && contextId !== task.contextId) {
    throwRefused(malformed("message.contextId is not that of the task"));
  }
  if (hasEnded(task)) {
    throw new UnsupportedOperationError(`Task ${id} is in a terminal state and cannot go on`);
  }
  if (task.status?.state === TaskState.TASK_STATE_WORKING) throw underWay(id);
}

function underWay(id: string): UnsupportedOperationError {
  return new UnsupportedOperationError(`Task ${id} is under way and takes no further message`);
}

const ENDED: readonly TaskState[] = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];

/** Returns whether a task has ended. */
export function hasEnded({ status }: Task): boolean {
  return ENDED.includes(status?.state ?? TaskState.TASK_STATE_UNSPECIFIED);
}
