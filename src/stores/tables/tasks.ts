/** Tasks and push configurations. Texts that callers chose are JSON strings. */
export const TASK_TABLES = {
  /** On whose authority something was made. */
  access: {
    columns: {
      seq: "serial",
      /** A hash of tenant, principal and paths: each access stands here once. */
      key: "text",
      tenant: "text",
      principal: "text",
      /** How many paths there are. */
      size: "integer",
      /** What it takes with its links, for the quota of the principal. */
      bytes: "integer",
      /** Milliseconds since 1970 of the last time that something was made with it, to about a day. */
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
      /** What it was done with. */
      uses: "text",
      context: "text",
      state: "integer",
      /** Where it runs; null if nothing runs in it. */
      instance: "text?",
      /** Milliseconds since 1970 of the status. */
      updated: "integer",
      /** Milliseconds since 1970 of the last time that it was saved; not of what its own request ends it with. */
      saved: "integer",
      /** Of `body` and `artifacts`, in UTF-8. */
      bytes: "integer",
      body: "text",
      artifacts: "text",
      /** The keys of the messages that have begun something in it, a JSON array; null for none. */
      messages: "text?",
    },
    unique: ["id"],
    // Each index costs a page or more in every commit: the quota of a principal is counted through its accesses, and
    // the index of instances, which a migration makes, has only the rows of tasks that run.
    indexes: [["access", "updated", "bytes"], ["saved"]],
  },
  /** A message that has begun something, by a hash of who sent it and of its id. */
  message: {
    columns: {
      key: "text",
      /** Of what it asked for. */
      hash: "text",
      task: "text",
    },
    key: ["key"],
  },
  /** An instance of the agent, and until when it has its lease, in milliseconds since 1970. */
  instance: { columns: { id: "text", until: "integer" }, key: ["id"] },
  push: {
    columns: {
      seq: "serial",
      task: "text",
      id: "text",
      access: "integer",
      principal: "text",
      saved: "integer",
      /** Of `body`, in UTF-8. */
      bytes: "integer",
      version: "text",
      body: "text",
    },
    unique: ["task", "id"],
    indexes: [["access"], ["principal", "bytes"], ["saved"]],
  },
} as const;
