/**
 * Rejects if an operation takes longer than this many milliseconds; the operation itself continues.
 *
 * @param late - Creates the error.
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
