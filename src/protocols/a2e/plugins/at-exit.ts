const pending = new Set<() => void>();

/** Runs something when this process exits; it must not wait. @returns Takes it back. */
export function atExit(run: () => void): () => void {
  if (pending.size === 0) process.on("exit", runAll);
  // A function that is given twice runs twice.
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
      // The others run whatever becomes of one.
    }
  }
}
