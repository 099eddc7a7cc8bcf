/** The ledger. Texts that callers chose are JSON strings. Each hop's text is kept once, not per event. */
export const LEDGER_TABLES = {
  event: {
    columns: {
      seq: "serial",
      /** Milliseconds since 1970. */
      at: "integer",
      /** Kind and decision: twice the kind's number, and one more if refused. */
      what: "integer",
      principal: "text?",
      capability: "text?",
      /** JSON of everything else, with the ids of the path's hops. */
      body: "text",
    },
    indexes: [["at"], ["principal", "at"], ["capability", "at"]],
  },
  /** What hops say, by revocation id, and about when an event last carried it. */
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
      /** The hops after the issuer's, a JSON array of their canonical texts; null for none. */
      further: "text?",
    },
    key: ["id"],
    indexes: [["expires"]],
  },
  /** When events were lost because they could not be written, and how many. */
  gap: { columns: { seq: "serial", from: "text", until: "text", lost: "integer" } },
} as const;
