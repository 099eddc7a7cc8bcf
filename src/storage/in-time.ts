import { StorageError } from "./storage-error.js";

/**
 * Gives up waiting for a database that does not answer; what it was asked goes on.
 *
 * @param name - The database as it may be shown.
 * @throws StorageError `store_unreachable` after so many milliseconds.
 */
export function inTime<T>(asked: Promise<T>, name: string, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const detail = `no answer for ${milliseconds / 1000} s`;
    const tooLate = (): void => reject(new StorageError("store_unreachable", name, { detail }));
    const late = setTimeout(tooLate, milliseconds).unref();
    asked.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
