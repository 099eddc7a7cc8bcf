import { StorageError } from "../storage/storage-error.js";

/**
 * Reads stored data: a damaged row is a database error, never a wrong answer.
 *
 * @param database - The name of the database.
 * @param what - The name of the value, such as `an event`.
 * @throws StorageError `store_corrupt` if `read` throws an error that readers of strings and numbers throw.
 */
export function readStored<T>(database: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const known = [TypeError, SyntaxError, RangeError].some((type) => cause instanceof type);
    throw known ? corrupt(database, `${what} in it is not well formed`, cause) : cause;
  }
}

/** Makes the error for impossible contents. */
export function corrupt(database: string, detail: string, cause?: unknown): StorageError {
  return new StorageError("store_corrupt", database, { detail, cause });
}

/** @throws TypeError if this is not a whole number. */
export function whole(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new TypeError("the stored number is not whole");
}

/**
 * Parses a string stored as JSON, because a column keeps neither NUL nor lone surrogates.
 *
 * @throws TypeError or SyntaxError if it is not a JSON string.
 */
export function textOf(stored: string): string {
  const text: unknown = JSON.parse(stored);
  if (typeof text === "string") return text;
  throw new TypeError("the stored text is not a string");
}
