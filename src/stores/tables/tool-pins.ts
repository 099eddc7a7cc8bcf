/**
 * The pinned definitions of tools of MCP servers. Names are JSON strings; definitions are JSON with sorted
 * properties.
 */
export const TOOL_PIN_TABLES = {
  tool_pin: {
    columns: {
      /** A hash of server and tool: an index takes no long strings. */
      id: "text",
      server: "text",
      tool: "text",
      definition: "text",
      /** When it was pinned, in milliseconds since 1970. */
      pinned: "integer",
      /** The definition that the server gives now, if that is another. */
      changed: "text?",
    },
    key: ["id"],
  },
} as const;
