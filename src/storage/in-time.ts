/**
 * Waits for an operation. Rejects if the operation takes longer than `milliseconds`; the operation itself
 * continues.
 *
 * @param late - Creates the error to reject with.
 */
export function inTime<T>(
  operation: Promise<T>,
  milliseconds: number,
  late: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds);
    operation.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
