/**
 * Memories of principals by key. Principals are stored as JSON strings; keys only have characters that a column
 * can store.
 */
export const MEMORY_TABLES = {
  memory_entry: {
    columns: {
      principal: "text",
      key: "text",
      /** The value as JSON. */
      value: "text",
      /** Size of the key and of the value as JSON together, in bytes of UTF-8. */
      bytes: "integer",
      /** Time of the last `set`, in milliseconds since 1970. */
      updated: "integer",
    },
    key: ["principal", "key"],
  },
  /** The totals of a principal's entries. */
  memory_use: {
    columns: { principal: "text", entries: "integer", bytes: "integer" },
    key: ["principal"],
  },
} as const;
