import { type Message, type Task, TaskState } from "@a2a-js/sdk";
import { TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { malformed, throwRefused } from "./errors.js";
import type { TaskView } from "./tasks/task-access.js";
import type { TaskStore } from "./tasks/task-store.js";

/**
 * Admits a message to the task that it continues, if any.
 *
 * @returns A function that lets the task accept its next message.
 * @throws Refused or an A2AError if the task accepts no message at present.
 */
export type TaskEntrance = (message: Message, sight: TaskView) => Promise<() => void>;

/**
 * Returns a function that admits one message at a time to each task, and refuses further messages meanwhile.
 * Two messages that run in one task would overwrite each other's work. The SDK would notice the second message
 * only after the gate and the ledger have admitted it.
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
      // Frees the task only once: after that, the next message may occupy it.
      if (isIn) continued.delete(id);
      isIn = false;
    };
    try {
      // Read the task again, because it may have changed between the first read and the reservation.
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

/**
 * @throws Refused if the message names a context other than the task's.
 * @throws A2AError if the task has ended or is running.
 */
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
