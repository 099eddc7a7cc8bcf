import { sql } from "kysely";
import type { MigrationStep } from "../../storage/columns.js";

/**
 * Revocations. Times are whole seconds since 1970. `id`, `reason` and `party` are JSON: a column
 * keeps neither NUL nor lone surrogates.
 */
export interface RevocationTables {
  revocation: {
    kind: string;
    id: string;
    before: number | null;
    until: number | null;
    at: number;
    reason: string | null;
    /** The caller whose quota the entry counts against; null for an operator's. */
    party: string | null;
    /** The version of the list that this entry last changed in; no two entries share one. */
    changed: number;
  };
  /**
   * One row. Each write changes it first and holds it until the commit, so that versions are seen in
   * their order. Entries whose `until` is `pruned` or earlier have been removed.
   */
  revocation_state: { one: number; version: number; pruned: number };
}

export async function makeRevocationTables({ schema, columns, run }: MigrationStep): Promise<void> {
  await schema
    .createTable("revocation")
    .addColumn("kind", columns.text, (column) => column.notNull())
    .addColumn("id", columns.text, (column) => column.notNull())
    .addColumn("before", columns.integer)
    .addColumn("until", columns.integer)
    .addColumn("at", columns.integer, (column) => column.notNull())
    .addColumn("reason", columns.text)
    .addColumn("party", columns.text)
    .addColumn("changed", columns.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint("revocation_key", ["kind", "id"])
    .execute();
  await schema.createIndex("revocation_changed").on("revocation").column("changed").execute();
  await schema
    .createIndex("revocation_party")
    .on("revocation")
    .columns(["party", "until"])
    .execute();
  await schema
    .createTable("revocation_state")
    .addColumn("one", columns.integer, (column) => column.primaryKey().check(sql`one = 1`))
    .addColumn("version", columns.integer, (column) => column.notNull())
    .addColumn("pruned", columns.integer, (column) => column.notNull())
    .execute();
  await run(sql`INSERT INTO revocation_state VALUES (1, 0, 0)`);
}
