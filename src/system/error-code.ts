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

/** Reasons for the codes of errors about files and programs. */
const REASONS: Readonly<Record<string, string>> = {
  E2BIG: "its arguments are too long",
  EACCES: "permission denied",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file may not grow further",
  EISDIR: "it is a folder",
  ELOOP: "its symbolic links go in a circle",
  ENAMETOOLONG: "its name is too long",
  ENOENT: "there is no such file",
  ENOSPC: "no space is left on the disk",
  ENOTDIR: "a part of its path is not a folder",
  EPERM: "the system does not permit it",
  EROFS: "the disk is read-only",
  SQLITE_FULL: "no space is left on the disk",
};

/**
 * Returns the reason for which a file could not be read or written, for a message to the user. Returns an unknown code
 * as it is.
 *
 * @param code - The `code` of the error, such as `ENOENT`.
 */
export function reasonFor(code: string, use: "read" | "write"): string {
  if (use === "write" && code === "ENOENT") return "its folder does not exist";
  return REASONS[code] ?? code;
}
