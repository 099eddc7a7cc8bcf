import { sql } from "kysely";
import type { MigrationStep } from "../../storage/columns.js";

/** Revocations. `id` and `reason` are JSON strings: a column keeps neither NUL nor lone surrogates. */
export interface RevocationTables {
  revocation: {
    kind: string;
    id: string;
    before: string | null;
    until: string | null;
    at: string;
    reason: string | null;
    /** The version of the list that this entry last changed in. */
    changed: number;
  };
  /** One row. Who changes it holds it until the commit, so that versions are seen in their order. */
  revocation_state: { one: number; version: number; pruned: number };
}

export async function makeRevocationTables({ schema, columns, run }: MigrationStep): Promise<void> {
  await schema
    .createTable("revocation")
    .addColumn("kind", columns.text, (column) => column.notNull())
    .addColumn("id", columns.text, (column) => column.notNull())
    .addColumn("before", columns.text)
    .addColumn("until", columns.text)
    .addColumn("at", columns.text, (column) => column.notNull())
    .addColumn("reason", columns.text)
    .addColumn("changed", columns.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint("revocation_key", ["kind", "id"])
    .execute();
  await schema.createIndex("revocation_changed").on("revocation").column("changed").execute();
  await schema
    .createTable("revocation_state")
    .addColumn("one", columns.integer, (column) => column.primaryKey().check(sql`one = 1`))
    .addColumn("version", columns.integer, (column) => column.notNull())
    .addColumn("pruned", columns.integer, (column) => column.notNull())
    .execute();
  await run(sql`INSERT INTO revocation_state VALUES (1, 0, 0)`);
}
