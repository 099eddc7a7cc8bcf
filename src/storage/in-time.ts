/**
 * Gives up waiting after so many milliseconds; the operation itself goes on.
 *
 * @param late - Makes the error that is thrown then.
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
