/** The `code` of an error of the system or the database, such as `ENOENT` or `SQLITE_BUSY`. */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
