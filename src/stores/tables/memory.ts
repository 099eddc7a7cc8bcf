/** What principals keep by key. Principals are JSON strings; keys have nothing that a column cannot hold. */
export const MEMORY_TABLES = {
  memory_entry: {
    columns: {
      principal: "text",
      key: "text",
      /** JSON. */
      value: "text",
      /** Of key and value, in UTF-8. */
      bytes: "integer",
      /** Milliseconds since 1970 of the last time that it was set. */
      updated: "integer",
    },
    key: ["principal", "key"],
  },
  /** What the entries of a principal come to. */
  memory_use: {
    columns: { principal: "text", entries: "integer", bytes: "integer" },
    key: ["principal"],
  },
} as const;
