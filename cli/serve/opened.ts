export type Closing = () => unknown;

/** Opens resources one after another. If one fails, those opened before are closed again. */
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
 * Closes resources in reverse order, even if closing some fails.
 *
 * @throws The first error of closing.
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
 * Runs the pruning tasks one after another, now and every hour.
 *
 * @param onProblem - Called with the error of a task; the other tasks still run.
 * @returns A function that stops this, once the running task is done.
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
