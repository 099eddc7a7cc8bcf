import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { SqliteTaskStore } from "../../src/stores/tasks/task-store.js";

const HOUR = 60 * 60 * 1000;
/** Tasks that nothing has happened to for so long are removed. */
const TASKS_KEPT = 30 * 24 * HOUR;

/** What is pruned, and what is called where that fails. */
export interface Pruning {
  readonly tasks: SqliteTaskStore;
  readonly revocations: RevocationStore;
  readonly onProblem: (message: string) => void;
}

/**
 * Removes old tasks, and revocations whose tokens have expired, at the start and every hour.
 *
 * @returns Stops it.
 */
export function pruneHourly({ tasks, revocations, onProblem }: Pruning): () => void {
  const prune = async (): Promise<void> => {
    try {
      tasks.prune(Date.now() - TASKS_KEPT);
      await revocations.prune();
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error));
    }
  };
  void prune();
  const timer = setInterval(prune, HOUR);
  timer.unref();
  return () => clearInterval(timer);
}
