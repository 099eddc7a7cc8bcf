/**
 * Revocations. Times are whole seconds since 1970. `id`, `reason` and `party` are stored as JSON, since a
 * column can store neither NUL nor lone surrogates.
 */
export const REVOCATION_TABLES = {
  revocation: {
    columns: {
      kind: "text",
      id: "text",
      before: "integer?",
      until: "integer?",
      at: "integer",
      reason: "text?",
      /** The caller whose quota the entry counts against; null if the entry was added without a quota. */
      party: "text?",
      /** The version of the list in which this entry last changed; unique. */
      changed: "integer",
    },
    key: ["kind", "id"],
    indexes: [["changed"], ["party", "until"], ["until"]],
  },
  /**
   * A table with one row. Every write changes the row first and holds its lock until the commit, so that
   * versions become visible in order. Entries whose `until` is `pruned` or earlier have been removed.
   */
  revocation_state: {
    columns: { one: "integer", version: "integer", pruned: "integer" },
    key: ["one"],
    check: "one = 1",
  },
} as const;
