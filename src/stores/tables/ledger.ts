import type { Generated } from "kysely";
import type { MigrationStep } from "../../storage/columns.js";

/** The ledger. Texts that callers chose are JSON strings. Each hop's text is kept once, not per event. */
export interface LedgerTables {
  event: {
    seq: Generated<number>;
    /** Milliseconds since 1970. */
    at: number;
    /** Kind and decision: twice the kind's number, and one more if refused. */
    what: number;
    principal: string | null;
    capability: string | null;
    /** JSON of everything else, with the ids of the path's hops. */
    body: string;
  };
  /** What hops say, by revocation id, and about when an event last told it. */
  hop: { revocation: string; hop: string; at: number };
  issued: { id: string; expires: string; body: string };
  /** When events were lost because they could not be written, and how many. */
  gap: { seq: Generated<number>; from: string; until: string; lost: number };
}

export async function makeLedgerTables({ schema, columns }: MigrationStep): Promise<void> {
  await schema
    .createTable("event")
    .addColumn("seq", columns.serial, (column) => column.primaryKey())
    .addColumn("at", columns.integer, (column) => column.notNull())
    .addColumn("what", columns.integer, (column) => column.notNull())
    .addColumn("principal", columns.text)
    .addColumn("capability", columns.text)
    .addColumn("body", columns.text, (column) => column.notNull())
    .execute();
  await schema.createIndex("event_at").on("event").column("at").execute();
  await schema.createIndex("event_principal").on("event").columns(["principal", "at"]).execute();
  await schema.createIndex("event_capability").on("event").columns(["capability", "at"]).execute();
  await schema
    .createTable("hop")
    .addColumn("revocation", columns.text, (column) => column.primaryKey())
    .addColumn("hop", columns.text, (column) => column.notNull())
    .addColumn("at", columns.integer, (column) => column.notNull())
    .execute();
  await schema.createIndex("hop_at").on("hop").column("at").execute();
  await schema
    .createTable("issued")
    .addColumn("id", columns.text, (column) => column.primaryKey())
    .addColumn("expires", columns.text, (column) => column.notNull())
    .addColumn("body", columns.text, (column) => column.notNull())
    .execute();
  await schema.createIndex("issued_expires").on("issued").column("expires").execute();
  await schema
    .createTable("gap")
    .addColumn("seq", columns.serial, (column) => column.primaryKey())
    .addColumn("from", columns.text, (column) => column.notNull())
    .addColumn("until", columns.text, (column) => column.notNull())
    .addColumn("lost", columns.integer, (column) => column.notNull())
    .execute();
}
