export type Closing = () => unknown;

/** Opens things one after the other. If one fails, those before it are closed again. */
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
 * Closes in the opposite order, each whatever became of the others.
 *
 * @throws What closing throws, the first.
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
 * Does the works of pruning one after the other, now and every hour.
 *
 * @param onProblem - Called with what went wrong in one; the others are done all the same.
 * @returns Stops it, when what is under way is done.
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
