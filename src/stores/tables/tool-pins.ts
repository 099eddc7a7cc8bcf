/**
 * The pinned definitions of tools of MCP servers. Names are JSON strings; definitions are JSON with sorted
 * properties.
 */
export const TOOL_PIN_TABLES = {
  tool_pin: {
    columns: {
      /** A hash of server and tool, because an index cannot have long strings. */
      id: "text",
      server: "text",
      tool: "text",
      definition: "text",
      /** The time when the definition was pinned, in milliseconds since 1970. */
      pinned: "integer",
      /** The definition that the server now gives, if it differs from the pinned one. */
      changed: "text?",
    },
    key: ["id"],
  },
} as const;
