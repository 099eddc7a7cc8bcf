/** The ledger. Strings that callers chose are JSON strings. The text of each hop is stored once, not per event. */
export const LEDGER_TABLES = {
  event: {
    columns: {
      seq: "serial",
      /** Milliseconds since 1970. */
      at: "integer",
      /** Kind and decision: twice the kind's number, plus one if refused. */
      what: "integer",
      principal: "text?",
      capability: "text?",
      /** The rest of the event as JSON, with the ids of the path's hops. */
      body: "text",
    },
    indexes: [["at"], ["principal", "at"], ["capability", "at"]],
  },
  /** The contents of hops, by revocation id, and about when an event last carried each. */
  hop: {
    columns: { revocation: "text", hop: "text", at: "integer" },
    key: ["revocation"],
    indexes: [["at"]],
  },
  issued: {
    columns: {
      id: "text",
      identifier: "text",
      hop: "text",
      principal: "text",
      invoker: "text",
      expires: "text",
      query: "text?",
      /** The hops after the issuer's: a JSON array of their canonical texts; null for none. */
      further: "text?",
    },
    key: ["id"],
    indexes: [["expires"]],
  },
  /** Periods in which events were lost because they could not be written, with their number. */
  gap: { columns: { seq: "serial", from: "text", until: "text", lost: "integer" } },
} as const;
