import type { StreamResponse, Task } from "@a2a-js/sdk";
import { TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { callOf } from "./call.js";
import { hasEnded } from "./open-tasks.js";
import { isRunning } from "./tasks/task-rows.js";
import type { TaskStore } from "./tasks/task-store.js";

/** Milliseconds after which a quiet stream repeats its task's status, because proxies close silent connections. */
const REPEAT = 20_000;

interface TaskStreamOptions {
  readonly tasks: TaskStore;
  /** Aborted when the server begins to close; ends streams of tasks that are not running. */
  readonly draining: AbortSignal;
  /** Aborted when the server has closed; ends all streams. */
  readonly stopping: AbortSignal;
}

/**
 * Streams a task until the task ends: first its current state, then each change, whichever process makes the
 * change.
 *
 * @param shown - The first state to send; the stored one unless given.
 * @throws TaskNotFoundError if the request may not see the task, or may no longer see it.
 * @throws UnsupportedOperationError if the task has ended already.
 */
export type TaskStream = (
  id: string,
  context: ServerCallContext,
  shown?: Task,
) => AsyncGenerator<StreamResponse, void, undefined>;

/** Returns a function that streams the tasks of a store. */
export function taskStreams({ tasks, draining, stopping }: TaskStreamOptions): TaskStream {
  const load = async (id: string, context: ServerCallContext): Promise<Task> => {
    const task = await tasks.load(id, context);
    if (task === undefined) throw new TaskNotFoundError(`Task not found: ${id}`);
    return task;
  };
  return async function* stream(id, context, shown) {
    const watch = tasks.watch(id);
    let isClosed = false;
    callOf(context).connection.whenClosed(() => {
      isClosed = true;
      watch.wake();
    });
    for (const signal of [draining, stopping]) signal.addEventListener("abort", watch.wake);
    try {
      let task = shown ?? (await load(id, context));
      if (shown === undefined && hasEnded(task)) {
        throw new UnsupportedOperationError(`Task ${id} has ended and cannot be subscribed to`);
      }
      yield { payload: { $case: "task", value: task } };
      while (!hasEnded(task)) {
        const mayHaveChanged = await watch.changed(REPEAT);
        if (isClosed || stopping.aborted) return;
        const now = await load(id, context);
        const changes = mayHaveChanged ? changesOf(task, now) : [statusUpdate(now)];
        yield* changes;
        task = now;
        if (draining.aborted && !isRunning(stateOf(task))) return;
      }
    } finally {
      watch.stop();
      for (const signal of [draining, stopping]) signal.removeEventListener("abort", watch.wake);
    }
  };
}

function changesOf(before: Task, { artifacts, ...now }: Task): readonly StreamResponse[] {
  const { id: taskId, contextId } = now;
  const known = new Set(before.artifacts.map(({ artifactId }) => artifactId));
  const made = artifacts.filter(({ artifactId }) => !known.has(artifactId));
  const events = made.map((artifact): StreamResponse => {
    const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: {} };
    return { payload: { $case: "artifactUpdate", value } };
  });
  return isSame(before.status, now.status) ? events : [...events, statusUpdate(now)];
}

function isSame(before: Task["status"], now: Task["status"]): boolean {
  return (
    before?.state === now?.state &&
    before?.timestamp === now?.timestamp &&
    before?.message?.messageId === now?.message?.messageId
  );
}

function statusUpdate({
  id: taskId,
  contextId,
  status,
}: Pick<Task, "id" | "contextId" | "status">): StreamResponse {
  const value = { taskId, contextId, status, metadata: {} };
  return { payload: { $case: "statusUpdate", value } };
}

function stateOf({ status }: Task): number {
  return status?.state ?? 0;
}
