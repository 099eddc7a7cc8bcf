/** Tasks and push configurations. Strings that callers chose are JSON strings. */
export const TASK_TABLES = {
  /** The authority that something was made with. */
  access: {
    columns: {
      seq: "serial",
      /** A hash of tenant, principal and paths; unique. */
      key: "text",
      tenant: "text",
      principal: "text",
      /** Number of paths. */
      size: "integer",
      /** Bytes of the row with its links, for the quota of the principal. */
      bytes: "integer",
      /** The time when something was last made with it, to about a day, in milliseconds since 1970. */
      used: "integer",
    },
    unique: ["key"],
    indexes: [["used"], ["principal", "bytes"]],
  },
  /** Revocation ids in the paths of an access, with the number of the path. */
  link: {
    columns: { id: "text", access: "integer", path: "integer" },
    key: ["id", "access", "path"],
    indexes: [["access"]],
  },
  task: {
    columns: {
      seq: "serial",
      id: "text",
      access: "integer",
      principal: "text",
      /** Tenant, principal and invoker that made it; null unless it was made with capabilities. */
      party: "text?",
      /** The uses that it was done with. */
      uses: "text",
      context: "text",
      state: "integer",
      /** The instance that runs it; null if nothing runs in it. */
      instance: "text?",
      /** Time of the status, in milliseconds since 1970. */
      updated: "integer",
      /** The time when it was last saved, in milliseconds since 1970; the end of its own request does not count. */
      saved: "integer",
      /** Bytes of `body` and `artifacts`, in UTF-8. */
      bytes: "integer",
      body: "text",
      artifacts: "text",
      /** The keys of the messages that have started something in it, a JSON array; null for none. */
      messages: "text?",
    },
    unique: ["id"],
    // Each index costs a page or more in every commit. The quota of a principal is therefore counted through
    // its accesses, and the index of instances, which a migration makes, has only the rows of running tasks.
    indexes: [["access", "updated", "bytes"], ["saved"]],
  },
  /** A message that has started something, by a hash of its sender and id. */
  message: {
    columns: {
      key: "text",
      /** A hash of what it asked for. */
      hash: "text",
      task: "text",
    },
    key: ["key"],
  },
  /** An instance of the agent, and the end of its lease in milliseconds since 1970. */
  instance: { columns: { id: "text", until: "integer" }, key: ["id"] },
  push: {
    columns: {
      seq: "serial",
      task: "text",
      id: "text",
      access: "integer",
      principal: "text",
      saved: "integer",
      /** Bytes of `body`, in UTF-8. */
      bytes: "integer",
      version: "text",
      body: "text",
    },
    unique: ["task", "id"],
    indexes: [["access"], ["principal", "bytes"], ["saved"]],
  },
} as const;
