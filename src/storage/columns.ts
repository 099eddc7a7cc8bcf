import { type ColumnDataType, type RawBuilder, type SchemaModule, sql } from "kysely";

/** Which database: what the few places that differ ask. */
export type DatabaseDialect = "sqlite" | "postgres";

/** What one migration works with: Kysely's schema builder, and columns that both databases know. */
export interface MigrationStep {
  readonly schema: SchemaModule;
  readonly dialect: DatabaseDialect;
  readonly columns: Columns;
  /** Runs a statement that the schema builder does not know. */
  run(statement: RawBuilder<unknown>): Promise<void>;
}

/** Column types of both databases. Texts are compared by their bytes, whatever the language. */
export interface Columns {
  /** A whole number up to 2^53. */
  readonly integer: ColumnDataType;
  readonly text: ColumnDataType | RawBuilder<unknown>;
  /** A number that the database gives to each row, which grows; for a primary key. */
  readonly serial: ColumnDataType;
}

export const COLUMNS: Readonly<Record<DatabaseDialect, Columns>> = {
  sqlite: { integer: "integer", text: "text", serial: "integer" },
  postgres: { integer: "bigint", text: sql`text collate "C"`, serial: "bigserial" },
};

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
