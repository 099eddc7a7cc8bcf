import type { RowsOf } from "../../storage/migrations.js";

/** The number of each resource name, given once and shared by all capabilities. A JSON string each. */
export const RESOURCE_NUMBER_TABLES = {
  resource_number: {
    columns: { number: "integer", name: "text" },
    key: ["number"],
    unique: ["name"],
  },
} as const;

export type ResourceNumberTables = RowsOf<typeof RESOURCE_NUMBER_TABLES>;
