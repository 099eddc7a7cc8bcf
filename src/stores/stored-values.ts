import { StorageError } from "../storage/storage-error.js";

/**
 * Reads what was stored: a damaged row is an error of the database, and never a wrong answer.
 *
 * @param database - Its name.
 * @param what - What is read, such as `an event`.
 * @throws StorageError `store_corrupt` where `read` throws what readers of texts and numbers throw.
 */
export function readStored<T>(database: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const known = [TypeError, SyntaxError, RangeError].some((type) => cause instanceof type);
    throw known ? corrupt(database, `${what} in it is not well formed`, cause) : cause;
  }
}

/** The error for contents that cannot be. */
export function corrupt(database: string, detail: string, cause?: unknown): StorageError {
  return new StorageError("store_corrupt", database, { detail, cause });
}

/** @throws TypeError if this is not a whole number. */
export function whole(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new TypeError("the stored number is not whole");
}

/**
 * A text that is kept as a JSON string: a column keeps neither NUL nor lone surrogates.
 *
 * @throws TypeError or SyntaxError if it is something else.
 */
export function textOf(stored: string): string {
  const text: unknown = JSON.parse(stored);
  if (typeof text === "string") return text;
  throw new TypeError("the stored text is not a string");
}
