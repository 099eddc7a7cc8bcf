// The common parts of the plugins that proviso includes for sessions: tools (local functions), memory (values
// by key), proc (programs from a list) and mcp (MCP servers).

import type { JsonObject } from "../../../bytes/json.js";
import type { SessionPlugin } from "../plugin.js";

/** The name and the rank of a plugin among the plugins of its capability. */
export interface PluginOrder {
  /** The plugin's name, which peers can read in the capability's metadata; the capability's name unless given. */
  readonly name?: string | undefined;
  /**
   * The rank among plugins that handle the same message: the plugin with the highest priority serves it. 0 unless
   * given.
   */
  readonly priority?: number | undefined;
  /** True to exclude all other plugins from this plugin's operations; false unless given. */
  readonly exclusive?: boolean | undefined;
}

export const ORDER_MEMBERS = ["name", "priority", "exclusive"] as const;

/** Returns a plugin's name, type and rank, with defaults for absent options. */
export function orderOf(
  type: SessionPlugin["type"],
  { name = type, priority = 0, exclusive = false }: PluginOrder,
): Pick<SessionPlugin, "name" | "type" | "priority" | "exclusive"> {
  return { name, type, priority, exclusive };
}

/** Returns the JSON Schema of an object that has only these properties. */
export function objectSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/**
 * Returns a limit or its default.
 *
 * @throws TypeError unless it is an integer of at least 1.
 */
export function limitOf(given: number | undefined, usual: number, where: string): number {
  const limit = given ?? usual;
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new TypeError(`${where}: must be a whole number, 1 or more`);
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** @throws TypeError if a value is not a valid name for a tool, a program or a server. */
export function assertName(name: unknown, where: string): asserts name is string {
  if (typeof name === "string" && NAME.test(name)) return;
  throw new TypeError(`${where}: a name must be 1 to 64 letters, digits, "_", "." or "-"`);
}
