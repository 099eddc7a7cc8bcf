/** Which database: what the few places that differ ask. */
export type DatabaseDialect = "sqlite" | "postgres";

/**
 * A value as it may be bound: libsql aborts the whole process when it is given a boolean, and reads a
 * text only up to its first NUL; PostgreSQL keeps no NUL at all.
 *
 * @throws TypeError for what a column cannot hold.
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
      "a column cannot hold a text with NUL or a lone surrogate; keep it as JSON",
    );
  }
  throw new TypeError(`a column cannot hold a value of type ${typeof value}`);
}

/** Whether a text can be bound: it has no NUL and no lone surrogate. */
export function isBindable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
