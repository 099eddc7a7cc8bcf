const pending = new Set<() => void>();

/**
 * Runs a function when this process exits. The function must be synchronous.
 *
 * @returns A function that undoes the registration.
 */
export function atExit(run: () => void): () => void {
  if (pending.size === 0) process.on("exit", runAll);
  // If the same function is added twice, it runs twice.
  const one = (): void => run();
  pending.add(one);
  return () => {
    if (pending.delete(one) && pending.size === 0) process.off("exit", runAll);
  };
}

function runAll(): void {
  for (const run of pending) {
    try {
      run();
    } catch {
      // If one function throws, the others must still run.
    }
  }
}
