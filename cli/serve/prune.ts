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
