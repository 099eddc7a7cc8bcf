import { type Generated, type RawBuilder, type SchemaModule, sql, type Transaction } from "kysely";
import type { DatabaseDialect } from "./columns.js";

/**
 * What to do where there is no database yet: no file, or none of the tables. `new` makes one as
 * `create` does, and refuses a file that is there already.
 */
export type IfMissing = "create" | "new" | "refuse";

/** What a database holds: identified by its id, and made by its migrations. */
export interface Schema {
  /** A whole number of 32 bits: `application_id` of an SQLite file. */
  readonly applicationId: number;
  /** Earlier ids, of formats that came before any release: refused as `store_outdated`. */
  readonly outdated: readonly number[];
  /**
   * Forward only: the first makes the tables, each later one changes what the one before left. A
   * database's format is how many of them it has seen.
   */
  readonly migrations: readonly Migration[];
}

/** Takes a database from one format to the next, in the transaction that also stamps it. */
type Migration = (step: MigrationStep) => Promise<void>;

/** What one migration works with: Kysely's schema builder, and columns that both databases know. */
export interface MigrationStep {
  readonly schema: SchemaModule;
  readonly columns: Columns;
  /** Runs a statement that the schema builder does not know. */
  run(statement: RawBuilder<unknown>): Promise<void>;
}

/** Column types of both databases. Texts are compared by their bytes, whatever the language. */
interface Columns {
  /** A whole number up to 2^53. */
  readonly integer: RawBuilder<unknown>;
  readonly text: RawBuilder<unknown>;
  /** A number that the database gives to each row, which grows; for a primary key. */
  readonly serial: RawBuilder<unknown>;
}

const COLUMNS: Readonly<Record<DatabaseDialect, Columns>> = {
  sqlite: { integer: sql`integer`, text: sql`text`, serial: sql`integer` },
  postgres: { integer: sql`bigint`, text: sql`text COLLATE "C"`, serial: sql`bigserial` },
};

/** Runs the migrations that a database of a format lacks, the first of them for format 0. */
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

/** What a table is made by, and what the type of its rows is derived from. */
export interface Table {
  readonly columns: { readonly [name: string]: keyof Values };
  /** The primary key, where no column is serial. */
  readonly key?: readonly string[];
  readonly unique?: readonly string[];
  /** What holds of every row, in SQL. */
  readonly check?: string;
  /** The columns of each index, which is called after its table and the first of them. */
  readonly indexes?: readonly (readonly string[])[];
}

/** By what a described column holds, the type of its values; with `?`, it may be null. */
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

/** Described tables, as Kysely knows tables. */
export type RowsOf<Tables extends { readonly [name: string]: Table }> = {
  -readonly [Name in keyof Tables]: {
    -readonly [Column in keyof Tables[Name]["columns"]]: Values[Tables[Name]["columns"][Column]];
  };
};

/** Makes tables and their indexes. */
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
