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
      /** Milliseconds since 1970 of the last time that it was saved. */
      saved: "integer",
      /** Of `body` and `artifacts`, in UTF-8. */
      bytes: "integer",
      body: "text",
      artifacts: "text",
    },
    unique: ["id"],
    indexes: [["access", "updated", "id"], ["principal", "bytes"], ["saved"], ["instance"]],
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
    indexes: [["task"]],
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
