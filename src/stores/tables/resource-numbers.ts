/**
 * The number of each resource name, assigned once and the same in all capabilities. Names are stored as JSON
 * strings.
 */
export const RESOURCE_NUMBER_TABLES = {
  resource_number: {
    columns: { number: "integer", name: "text" },
    key: ["number"],
    unique: ["name"],
  },
} as const;
