import type { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { TaskStore } from "../../src/stores/tasks/task-store.js";

const HOUR = 60 * 60 * 1000;
/** Tasks that nothing has happened to for so long are removed. */
const TASKS_KEPT = 30 * 24 * HOUR;

/** What is tidied up, and who is told if it can not be. */
export interface Housekeeping {
  readonly tasks: TaskStore;
  readonly store: RevocationStore;
  readonly ledger: LedgerStore;
  readonly onProblem: (message: string) => void;
}

/**
 * Tidies up at the start and every hour: old tasks go, and so do revocations whose tokens have
 * expired and the ledger's old events.
 *
 * @returns Stops it.
 */
export function keepHouse({ tasks, store, ledger, onProblem }: Housekeeping): () => Promise<void> {
  const attempt = async (work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const tidy = async (): Promise<void> => {
    await attempt(() => tasks.prune(Date.now() - TASKS_KEPT));
    await attempt(() => store.prune(Date.now()));
    await attempt(() => ledger.prune());
  };
  let running = tidy();
  const timer = setInterval(() => {
    running = running.then(tidy);
  }, HOUR);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
