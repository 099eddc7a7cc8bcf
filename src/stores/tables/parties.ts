/**
 * Hosts, agents, their grants, approvals and delegations, one table for each kind. `body` is the record as
 * JSON. The other columns repeat the values by which records are looked up. Strings are stored as JSON strings,
 * since a column can store neither NUL nor lone surrogates. `version` grows with every change of the record.
 * Times are milliseconds since 1970.
 */
export const PARTY_TABLES = {
  party_host: {
    columns: {
      id: "text",
      thumbprint: "text?",
      /** The thumbprint of the proven key; unique. Null if the host has proven no key, or is revoked. */
      held: "text?",
      principal: "text?",
      /** The address from which the host registered, until the host is linked to a user. */
      address: "text?",
      network: "text?",
      created: "integer",
      version: "integer",
      body: "text",
    },
    key: ["id"],
    unique: ["held"],
    indexes: [
      ["thumbprint"],
      ["principal", "created", "id"],
      ["address", "created", "id"],
      ["network", "created", "id"],
      ["created", "id"],
    ],
  },
  party_agent: {
    columns: {
      id: "text",
      host: "text",
      thumbprint: "text",
      principal: "text?",
      created: "integer",
      version: "integer",
      body: "text",
    },
    key: ["id"],
    indexes: [
      ["host", "created", "id"],
      ["thumbprint"],
      ["principal", "created", "id"],
      ["created", "id"],
    ],
  },
  party_grant: {
    columns: {
      id: "text",
      agent: "text",
      host: "text",
      approval: "text?",
      created: "integer",
      version: "integer",
      body: "text",
    },
    key: ["id"],
    indexes: [
      ["agent", "created", "id"],
      ["host", "created", "id"],
      ["approval"],
      ["created", "id"],
    ],
  },
  approval: {
    columns: {
      id: "text",
      /** The id of the request; unique. */
      request: "text",
      code: "text?",
      agent: "text",
      state: "text",
      /** The time when the approval ended, or will end at the latest. */
      until: "integer",
      created: "integer",
      version: "integer",
      body: "text",
    },
    key: ["id"],
    unique: ["request"],
    indexes: [
      ["code"],
      ["agent", "created", "id"],
      ["state", "created", "id"],
      ["until"],
      ["created", "id"],
    ],
  },
  /**
   * Principals that may decide an approval, or have decided it. `decided` is 1 if the principal's history shows
   * the decision.
   */
  approver: {
    columns: { principal: "text", approval: "text", decided: "integer" },
    key: ["principal", "approval"],
    indexes: [["approval"], ["principal", "decided"]],
  },
  delegation: {
    columns: {
      id: "text",
      delegator: "text",
      expires: "integer",
      created: "integer",
      version: "integer",
      body: "text",
    },
    key: ["id"],
    indexes: [["delegator", "created", "id"], ["expires"], ["created", "id"]],
  },
  answered_request: {
    columns: {
      id: "text",
      expires: "integer",
      created: "integer",
      version: "integer",
      body: "text",
    },
    key: ["id"],
    indexes: [["expires"]],
  },
  /**
   * One-time ids. `key` is a hash of scope and id, `scope` a hash of the scope alone. `stranger` is 1 for uses
   * by strangers, which are counted separately.
   */
  used_once: {
    columns: { key: "text", scope: "text", stranger: "integer", expires: "integer" },
    key: ["key"],
    indexes: [["expires"], ["stranger"], ["scope", "expires"]],
  },
} as const;
