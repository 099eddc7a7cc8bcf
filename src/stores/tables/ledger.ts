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
      /** Kind and decision: twice the kind's number, plus 1 if the decision is `refused`. */
      what: "integer",
      principal: "text?",
      capability: "text?",
      /** All other properties of the event as JSON. The path has only the ids of its hops. */
      body: "text",
    },
    indexes: [["at"], ["principal", "at"], ["capability", "at"]],
  },
  /** The contents of hops by revocation id. `at` is the approximate time of the last event with the hop in its path. */
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
      /** The hops after the issuer's hop: a JSON array of strings with canonical JSON; null if there are none. */
      further: "text?",
    },
    key: ["id"],
    indexes: [["expires"]],
  },
  /** Periods in which events were lost because they could not be written, with the number of lost events. */
  gap: { columns: { seq: "serial", from: "text", until: "text", lost: "integer" } },
} as const;
