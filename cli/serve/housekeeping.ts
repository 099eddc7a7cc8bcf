import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { SqliteTaskStore } from "../../src/stores/tasks/task-store.js";

const HOUR = 60 * 60 * 1000;
/** Tasks that nothing has happened to for so long are removed. */
const TASKS_KEPT = 30 * 24 * HOUR;

/** What is tidied up, and who is told if it can not be. */
export interface Housekeeping {
  readonly tasks: SqliteTaskStore;
  readonly store: RevocationStore;
  readonly onProblem: (message: string) => void;
}

/**
 * Tidies up at the start and every hour: tasks that were under way when an agent was killed have
 * failed, old tasks go, and so do revocations whose tokens have expired.
 *
 * @returns Stops it.
 */
export function keepHouse({ tasks, store, onProblem }: Housekeeping): () => void {
  const tidy = (): void => {
    try {
      tasks.prune(Date.now() - TASKS_KEPT);
      store.prune(Date.now());
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error));
    }
  };
  try {
    tasks.failInterrupted();
  } catch (error) {
    onProblem(error instanceof Error ? error.message : String(error));
  }
  tidy();
  const timer = setInterval(tidy, HOUR);
  timer.unref();
  return () => clearInterval(timer);
}
