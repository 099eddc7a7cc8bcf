import type { Database } from "../../src/storage/database.js";
import type { Queries } from "../../src/storage/engine.js";
import type { Schema } from "../../src/storage/migrations.js";

// A database with one table, for tests of behaviour that both kinds of database share.

export interface Tables {
  item: { name: string; amount: number };
}

export const schema: Schema = {
  applicationId: 0x74657374,
  outdated: [],
  migrations: [
    async ({ schema, columns }) => {
      await schema
        .createTable("item")
        .addColumn("name", columns.text, (column) => column.primaryKey())
        .addColumn("amount", columns.integer, (column) => column.notNull())
        .execute();
    },
  ],
};

export function names(database: Database<Tables>): Promise<string[]> {
  return database.read(async (db) =>
    (await db.selectFrom("item").select("name").orderBy("name").execute()).map(({ name }) => name),
  );
}

export function insert(db: Queries<Tables>, name: string, amount: unknown = 1): Promise<unknown> {
  return db
    .insertInto("item")
    .values({ name, amount: amount as number })
    .execute();
}

export function put(
  database: Database<Tables>,
  name: string,
  amount: unknown = 1,
): Promise<unknown> {
  return database.write((db) => insert(db, name, amount));
}
