import { type Generated, type RawBuilder, type SchemaModule, sql, type Transaction } from "kysely";
import type { DatabaseDialect } from "./columns.js";

/**
 * The action if there is no database, which means no file or none of the tables. `create` creates the database.
 * `new` creates it too, but refuses an existing file. `refuse` throws.
 */
export type IfMissing = "create" | "new" | "refuse";

/** The identity of a database's format, and its migrations. */
export interface Schema {
  /** An integer of 32 bits: the `application_id` of an SQLite file. */
  readonly applicationId: number;
  /** Ids of earlier, unreleased formats, which are refused as `store_outdated`. */
  readonly outdated: readonly number[];
  /**
   * The first migration creates the tables; each later migration changes the previous format. Migrations run
   * forward only. A database's format is the number of migrations that it has had.
   */
  readonly migrations: readonly Migration[];
}

/** Migrates a database to the next format, in the transaction that also records the new format. */
type Migration = (step: MigrationStep) => Promise<void>;

/** Tools of one migration: Kysely's schema builder, and column types of both databases. */
export interface MigrationStep {
  readonly schema: SchemaModule;
  readonly columns: Columns;
  /** Runs a statement that the schema builder does not support. */
  run(statement: RawBuilder<unknown>): Promise<void>;
}

/** Column types of both databases. Strings are compared by their bytes, regardless of language. */
interface Columns {
  /** An integer up to 2^53. */
  readonly integer: RawBuilder<unknown>;
  readonly text: RawBuilder<unknown>;
  /** A growing integer that the database assigns to each row, for a primary key. */
  readonly serial: RawBuilder<unknown>;
}

const COLUMNS: Readonly<Record<DatabaseDialect, Columns>> = {
  sqlite: { integer: sql`integer`, text: sql`text`, serial: sql`integer` },
  postgres: { integer: sql`bigint`, text: sql`text COLLATE "C"`, serial: sql`bigserial` },
};

/** Runs the migrations that a database still lacks; at format 0, all of them. */
export async function migrate<Tables>(
  { migrations }: Schema,
  format: number,
  transaction: Transaction<Tables>,
  dialect: DatabaseDialect,
): Promise<void> {
  const step: MigrationStep = {
    schema: transaction.schema,
    columns: COLUMNS[dialect],
    async run(statement) {
      await statement.execute(transaction);
    },
  };
  for (const migration of migrations.slice(format)) await migration(step);
}

/** The description of a table, from which both the table and its row type are derived. */
export interface Table {
  readonly columns: { readonly [name: string]: keyof Values };
  /** The primary key, if no column is serial. */
  readonly key?: readonly string[];
  readonly unique?: readonly string[];
  /** An SQL condition that every row must meet. */
  readonly check?: string;
  /** The columns of each index. An index is named after its table and first column. */
  readonly indexes?: readonly (readonly string[])[];
}

/** TypeScript types of values, by column type. A column type with `?` allows null. */
interface Values {
  /** The primary key. */
  serial: Generated<number>;
  integer: number;
  "integer?": number | null;
  text: string;
  "text?": string | null;
}

const DEFINITIONS: Readonly<Record<keyof Values, readonly [type: keyof Columns, more: string]>> = {
  serial: ["serial", "PRIMARY KEY"],
  integer: ["integer", "NOT NULL"],
  "integer?": ["integer", ""],
  text: ["text", "NOT NULL"],
  "text?": ["text", ""],
};

/** The Kysely row types of described tables. */
export type RowsOf<Tables extends { readonly [name: string]: Table }> = {
  -readonly [Name in keyof Tables]: {
    -readonly [Column in keyof Tables[Name]["columns"]]: Values[Tables[Name]["columns"][Column]];
  };
};

/** Creates tables and their indexes. */
export async function makeTables(
  { schema, columns: types, run }: MigrationStep,
  tables: { readonly [name: string]: Table },
): Promise<void> {
  for (const [name, { columns, key, unique, check, indexes = [] }] of Object.entries(tables)) {
    const lines = Object.entries(columns).map(([column, kind]) => {
      const [type, more] = DEFINITIONS[kind];
      return sql`${sql.ref(column)} ${types[type]} ${sql.raw(more)}`;
    });
    if (key !== undefined) lines.push(sql`PRIMARY KEY (${sql.join(key.map(sql.ref))})`);
    if (unique !== undefined) lines.push(sql`UNIQUE (${sql.join(unique.map(sql.ref))})`);
    if (check !== undefined) lines.push(sql`CHECK (${sql.raw(check)})`);
    await run(sql`CREATE TABLE ${sql.table(name)} (${sql.join(lines)})`);
    for (const index of indexes) {
      const made = schema.createIndex(`${name}_${index[0]}`).on(name);
      await made.columns([...index]).execute();
    }
  }
}
