import { StorageError } from "../storage/storage-error.js";

/**
 * Runs `read` on stored data. Reports a damaged row as an error of the database.
 *
 * @param database - The name of the database.
 * @param what - The name of the value, such as `an event`.
 * @throws StorageError `store_corrupt` if `read` throws a TypeError, SyntaxError or RangeError.
 */
export function readStored<T>(database: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const known = [TypeError, SyntaxError, RangeError].some((type) => cause instanceof type);
    throw known ? corrupt(database, `${what} in it is not well formed`, cause) : cause;
  }
}

/** Returns the error for contents that proviso cannot have written. */
export function corrupt(database: string, detail: string, cause?: unknown): StorageError {
  return new StorageError("store_corrupt", database, { detail, cause });
}

/**
 * Returns the value as a number.
 * @throws TypeError if the value is not an integer.
 */
export function whole(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new TypeError("the stored number is not whole");
}

/**
 * Parses a string that is stored as JSON, because a column can store neither NUL nor lone surrogates.
 *
 * @throws TypeError or SyntaxError if `stored` is not a JSON string.
 */
export function textOf(stored: string): string {
  const text: unknown = JSON.parse(stored);
  if (typeof text === "string") return text;
  throw new TypeError("the stored value is not a string");
}
