/**
 * Waits for an operation. Rejects if the operation takes longer than `milliseconds`; the operation itself
 * continues. If this process was paused until after the time limit, an answer that arrived meanwhile is still used.
 *
 * @param late - Creates the error to reject with.
 */
export function inTime<T>(
  operation: Promise<T>,
  milliseconds: number,
  late: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    // After a pause, Node runs due timers before it reads sockets; it runs immediates after that.
    const timer = setTimeout(() => setImmediate(() => reject(late())), milliseconds);
    operation.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
