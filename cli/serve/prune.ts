import type { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { TaskStore } from "../../src/stores/tasks/task-store.js";

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

/** What is pruned, and what is called where that fails. */
export interface Pruning {
  readonly tasks: TaskStore;
  /** Days after the last change to a task for which it is kept. */
  readonly retention: number;
  readonly revocations: RevocationStore;
  readonly ledger: LedgerStore;
  readonly onProblem: (message: string) => void;
}

/**
 * Removes old tasks, revocations whose tokens have expired, and the ledger's old events, now and every
 * hour.
 *
 * @returns Stops it, when what is under way is done.
 */
export function pruneHourly({
  tasks,
  retention,
  revocations,
  ledger,
  onProblem,
}: Pruning): () => Promise<void> {
  const attempt = async (work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const prune = async (): Promise<void> => {
    await attempt(() => tasks.prune(Date.now() - retention * DAY));
    await attempt(() => revocations.prune());
    await attempt(() => ledger.prune());
  };
  let running = prune();
  const timer = setInterval(() => {
    running = running.then(prune);
  }, HOUR);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
