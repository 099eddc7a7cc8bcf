import type { Generated } from "kysely";
import type { MigrationStep } from "../../storage/migrations.js";

/** Tasks and push configurations. Texts that callers chose are JSON strings. */
export interface TaskTables {
  /** On whose authority something was made. */
  access: {
    seq: Generated<number>;
    /** A hash of the three columns that follow: each access stands here once. */
    key: string;
    tenant: string;
    principal: string;
    paths: string;
    /** How many paths there are. */
    size: number;
    /** What it takes with its links, for the quota of the principal. */
    bytes: number;
    /** Milliseconds since 1970 of the last time that something was made with it, to about a day. */
    used: number;
  };
  /** Revocation ids in the paths of an access, with the number of the path. */
  link: { id: string; access: number; path: number };
  task: {
    seq: Generated<number>;
    id: string;
    access: number;
    principal: string;
    /** Tenant, principal and invoker that made it; null unless it was made with capabilities. */
    party: string | null;
    /** What it was done with. */
    uses: string;
    context: string;
    state: number;
    /** Where it runs; null if nothing runs in it. */
    instance: string | null;
    /** Milliseconds since 1970 of the status. */
    updated: number;
    /** Milliseconds since 1970 of the last time that it was saved. */
    saved: number;
    /** Of `body` and `artifacts`, in UTF-8. */
    bytes: number;
    body: string;
    artifacts: string;
  };
  /** A message that has begun something, by a hash of who sent it and of its id. */
  message: {
    key: string;
    /** Of what it asked for. */
    hash: string;
    task: string;
  };
  /** An instance of the agent, and until when it has its lease, in milliseconds since 1970. */
  instance: { id: string; until: number };
  push: {
    seq: Generated<number>;
    task: string;
    id: string;
    access: number;
    principal: string;
    saved: number;
    /** Of `body`, in UTF-8. */
    bytes: number;
    version: string;
    body: string;
  };
}

export async function makeTaskTables({ schema, columns }: MigrationStep): Promise<void> {
  await schema
    .createTable("access")
    .addColumn("seq", columns.serial, (column) => column.primaryKey())
    .addColumn("key", columns.text, (column) => column.notNull().unique())
    .addColumn("tenant", columns.text, (column) => column.notNull())
    .addColumn("principal", columns.text, (column) => column.notNull())
    .addColumn("paths", columns.text, (column) => column.notNull())
    .addColumn("size", columns.integer, (column) => column.notNull())
    .addColumn("bytes", columns.integer, (column) => column.notNull())
    .addColumn("used", columns.integer, (column) => column.notNull())
    .execute();
  await schema.createIndex("access_used").on("access").column("used").execute();
  await schema
    .createIndex("access_principal")
    .on("access")
    .columns(["principal", "bytes"])
    .execute();
  await schema
    .createTable("link")
    .addColumn("id", columns.text, (column) => column.notNull())
    .addColumn("access", columns.integer, (column) => column.notNull())
    .addColumn("path", columns.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint("link_key", ["id", "access", "path"])
    .execute();
  await schema.createIndex("link_access").on("link").column("access").execute();
  await schema
    .createTable("task")
    .addColumn("seq", columns.serial, (column) => column.primaryKey())
    .addColumn("id", columns.text, (column) => column.notNull().unique())
    .addColumn("access", columns.integer, (column) => column.notNull())
    .addColumn("principal", columns.text, (column) => column.notNull())
    .addColumn("party", columns.text)
    .addColumn("uses", columns.text, (column) => column.notNull())
    .addColumn("context", columns.text, (column) => column.notNull())
    .addColumn("state", columns.integer, (column) => column.notNull())
    .addColumn("instance", columns.text)
    .addColumn("updated", columns.integer, (column) => column.notNull())
    .addColumn("saved", columns.integer, (column) => column.notNull())
    .addColumn("bytes", columns.integer, (column) => column.notNull())
    .addColumn("body", columns.text, (column) => column.notNull())
    .addColumn("artifacts", columns.text, (column) => column.notNull())
    .execute();
  await schema.createIndex("task_access").on("task").columns(["access", "updated", "id"]).execute();
  await schema.createIndex("task_principal").on("task").columns(["principal", "bytes"]).execute();
  await schema.createIndex("task_saved").on("task").column("saved").execute();
  await schema.createIndex("task_instance").on("task").column("instance").execute();
  await schema
    .createTable("instance")
    .addColumn("id", columns.text, (column) => column.primaryKey())
    .addColumn("until", columns.integer, (column) => column.notNull())
    .execute();
  await schema
    .createTable("message")
    .addColumn("key", columns.text, (column) => column.primaryKey())
    .addColumn("hash", columns.text, (column) => column.notNull())
    .addColumn("task", columns.text, (column) => column.notNull())
    .execute();
  await schema.createIndex("message_task").on("message").column("task").execute();
  await schema
    .createTable("push")
    .addColumn("seq", columns.serial, (column) => column.primaryKey())
    .addColumn("task", columns.text, (column) => column.notNull())
    .addColumn("id", columns.text, (column) => column.notNull())
    .addColumn("access", columns.integer, (column) => column.notNull())
    .addColumn("principal", columns.text, (column) => column.notNull())
    .addColumn("saved", columns.integer, (column) => column.notNull())
    .addColumn("bytes", columns.integer, (column) => column.notNull())
    .addColumn("version", columns.text, (column) => column.notNull())
    .addColumn("body", columns.text, (column) => column.notNull())
    .addUniqueConstraint("push_key", ["task", "id"])
    .execute();
  await schema.createIndex("push_access").on("push").column("access").execute();
  await schema.createIndex("push_principal").on("push").columns(["principal", "bytes"]).execute();
  await schema.createIndex("push_saved").on("push").column("saved").execute();
}
