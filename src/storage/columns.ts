/** The kind of database, for the few functions in which SQLite and PostgreSQL differ. */
export type DatabaseDialect = "sqlite" | "postgres";

/**
 * Converts a value to one that both databases can bind. libsql aborts the whole process when it is given a
 * boolean, and reads a string only up to its first NUL. PostgreSQL stores no NUL.
 *
 * @throws TypeError if a column cannot hold the value.
 */
export function bindable(value: unknown): string | number | null {
  if (value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw new TypeError(`a column cannot hold ${value}`);
  }
  if (typeof value === "string") {
    if (isBindable(value)) return value;
    throw new TypeError(
      "a column cannot hold a string with NUL or a lone surrogate; keep it as JSON",
    );
  }
  throw new TypeError(`a column cannot hold a value of type ${typeof value}`);
}

/** Returns whether a string can be bound: it contains no NUL and no lone surrogate. */
export function isBindable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
