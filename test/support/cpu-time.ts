/**
 * Starts to measure the CPU time of this process, which does not grow while the process waits or is paused.
 *
 * @returns A function that returns the CPU time so far, in milliseconds.
 */
export function cpuTime(): () => number {
  const began = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
}
