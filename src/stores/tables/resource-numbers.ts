import type { MigrationStep } from "../../storage/columns.js";

/** The number of each resource name, given once and shared by all capabilities. A JSON string each. */
export interface ResourceNumberTables {
  resource_number: { number: number; name: string };
}

export async function makeResourceNumberTables({ schema, columns }: MigrationStep): Promise<void> {
  await schema
    .createTable("resource_number")
    .addColumn("number", columns.integer, (column) => column.primaryKey())
    .addColumn("name", columns.text, (column) => column.notNull().unique())
    .execute();
}
