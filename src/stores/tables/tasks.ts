import type { Generated } from "kysely";
import type { MigrationStep } from "../../storage/columns.js";

/** Tasks and push configurations. Texts that callers chose are JSON strings. */
export interface TaskTables {
  /** On whose authority something was made. */
  access: { seq: Generated<number>; tenant: string; principal: string; paths: string };
  /** Revocation ids in the paths of an access. */
  link: { id: string; access: number };
  task: {
    seq: Generated<number>;
    id: string;
    access: number;
    context: string;
    state: number;
    /** Milliseconds since 1970 of the status. */
    updated: number;
    /** Milliseconds since 1970 of the last time that it was saved. */
    saved: number;
    body: string;
    artifacts: string;
  };
  push: {
    seq: Generated<number>;
    task: string;
    id: string;
    access: number;
    saved: number;
    version: string;
    body: string;
  };
}

export async function makeTaskTables({ schema, columns }: MigrationStep): Promise<void> {
  await schema
    .createTable("access")
    .addColumn("seq", columns.serial, (column) => column.primaryKey())
    .addColumn("tenant", columns.text, (column) => column.notNull())
    .addColumn("principal", columns.text, (column) => column.notNull())
    .addColumn("paths", columns.text, (column) => column.notNull())
    .execute();
  await schema
    .createIndex("access_principal")
    .on("access")
    .columns(["principal", "tenant"])
    .execute();
  await schema
    .createTable("link")
    .addColumn("id", columns.text, (column) => column.notNull())
    .addColumn("access", columns.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint("link_key", ["id", "access"])
    .execute();
  await schema
    .createTable("task")
    .addColumn("seq", columns.serial, (column) => column.primaryKey())
    .addColumn("id", columns.text, (column) => column.notNull().unique())
    .addColumn("access", columns.integer, (column) => column.notNull())
    .addColumn("context", columns.text, (column) => column.notNull())
    .addColumn("state", columns.integer, (column) => column.notNull())
    .addColumn("updated", columns.integer, (column) => column.notNull())
    .addColumn("saved", columns.integer, (column) => column.notNull())
    .addColumn("body", columns.text, (column) => column.notNull())
    .addColumn("artifacts", columns.text, (column) => column.notNull())
    .execute();
  await schema.createIndex("task_access").on("task").columns(["access", "updated", "id"]).execute();
  await schema
    .createTable("push")
    .addColumn("seq", columns.serial, (column) => column.primaryKey())
    .addColumn("task", columns.text, (column) => column.notNull())
    .addColumn("id", columns.text, (column) => column.notNull())
    .addColumn("access", columns.integer, (column) => column.notNull())
    .addColumn("saved", columns.integer, (column) => column.notNull())
    .addColumn("version", columns.text, (column) => column.notNull())
    .addColumn("body", columns.text, (column) => column.notNull())
    .addUniqueConstraint("push_key", ["task", "id"])
    .execute();
}
