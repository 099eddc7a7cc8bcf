/**
 * Returns the `code` of an error of the operating system or the database, such as `ENOENT` or `SQLITE_BUSY`; an
 * empty string if it has none.
 */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

/** Returns the message of an error; for any other thrown value, the value as a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns whether an error has a string `code`, like errors of the operating system. */
export function isErrno(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
