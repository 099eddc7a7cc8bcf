/**
 * The ledger. Strings chosen by callers are stored as JSON strings. The contents of each hop are stored once,
 * not per event.
 */
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
      /** The rest of the event as JSON; hops of the path only by their ids. */
      body: "text",
    },
    indexes: [["at"], ["principal", "at"], ["capability", "at"]],
  },
  /** The contents of hops by revocation id, with the approximate time when an event last had each. */
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
      /** The hops after the issuer's hop: a JSON array of their canonical JSON; null if there are none. */
      further: "text?",
    },
    key: ["id"],
    indexes: [["expires"]],
  },
  /** Periods in which events could not be written and were lost, with the number lost. */
  gap: { columns: { seq: "serial", from: "text", until: "text", lost: "integer" } },
} as const;
