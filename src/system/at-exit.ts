const pending = new Set<() => void>();

/** Runs a function when this process exits; it must be synchronous. @returns A function that cancels it. */
export function atExit(run: () => void): () => void {
  if (pending.size === 0) process.on("exit", runAll);
  // A function that is added twice runs twice.
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
      // A failure of one must not stop the others.
    }
  }
}
