export type Closing = () => unknown;

/** Opens resources one after another. If one of them fails, closes those that are already open. */
export async function openAll<Opened>(
  open: (opened: Closing[]) => Promise<Opened>,
): Promise<Opened> {
  const opened: Closing[] = [];
  try {
    return await open(opened);
  } catch (error) {
    await closeAll(opened).catch(() => {});
    throw error;
  }
}

/**
 * Closes resources in reverse order. If closing one of them fails, the others are still closed.
 *
 * @throws The first error.
 */
export async function closeAll(opened: Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

const HOUR = 60 * 60 * 1000;

/**
 * Runs the pruning tasks one after another, immediately and then every hour.
 *
 * @param onProblem - Called with the error message of a task that fails. The other tasks still run.
 * @returns A function that stops the pruning. The function's promise is fulfilled when no task is running any
 *   more.
 */
export function pruneHourly(
  works: readonly (() => unknown)[],
  onProblem: (message: string) => void,
): () => Promise<void> {
  const prune = async (): Promise<void> => {
    for (const work of works) {
      try {
        await work();
      } catch (error) {
        onProblem(error instanceof Error ? error.message : String(error));
      }
    }
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
