/** Tasks and push configurations. Strings chosen by callers are stored as JSON strings. */
export const TASK_TABLES = {
  /** The authority with which tasks or push configurations were made. */
  access: {
    columns: {
      seq: "serial",
      /** A hash of the tenant, the principal and the paths; unique. */
      key: "text",
      tenant: "text",
      principal: "text",
      /** Number of paths. */
      size: "integer",
      /** Bytes of the row and its links, counted against the principal's quota. */
      bytes: "integer",
      /**
       * The time when a task or push configuration was last made with this access, accurate to about a day, in
       * milliseconds since 1970.
       */
      used: "integer",
    },
    unique: ["key"],
    indexes: [["used"], ["principal", "bytes"]],
  },
  /** Revocation ids in the paths of an access, each with the index of its path. */
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
      /** The tenant, principal and invoker that made the task; null unless the task was made with capabilities. */
      party: "text?",
      /** The uses of authority by the task, as JSON. */
      uses: "text",
      context: "text",
      state: "integer",
      /** The server instance that runs the task; null if the task is not running. */
      instance: "text?",
      /** Time of the status, in milliseconds since 1970. */
      updated: "integer",
      /**
       * The time when the task was last saved, in milliseconds since 1970. If the task ended within the call
       * that made it, the start of that call.
       */
      saved: "integer",
      /** Bytes of `body` and `artifacts`, in UTF-8. */
      bytes: "integer",
      body: "text",
      artifacts: "text",
      /** Keys of the messages that have started work in the task, as a JSON array; null if there are none. */
      messages: "text?",
    },
    unique: ["id"],
    // Each index costs a page or more in every commit. The quota of a principal is therefore counted through
    // its accesses. A migration makes the index of instances, which has only the rows of running tasks.
    indexes: [["access", "updated", "bytes"], ["saved"]],
  },
  /** A message that has started work, by a hash of its sender and id. */
  message: {
    columns: {
      key: "text",
      /** A hash of the message's contents. */
      hash: "text",
      task: "text",
    },
    key: ["key"],
  },
  /** A server instance, and the end of its lease in milliseconds since 1970. */
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
