// src/protocols/a2e/plugins/: the plugins that proviso brings for sessions: tools (local functions), memory
// (values by key), proc (programs of an allowed list) and mcp (servers of MCP). This file has what they share.

import type { JsonObject } from "../../../bytes/json.js";
import type { SessionPlugin } from "../plugin.js";

/** The place of a plugin among others of its capability. */
export interface PluginOrder {
  /** Peers read it in the capability's metadata; the capability's own name unless given. */
  readonly name?: string | undefined;
  /** The higher comes first; 0 unless given. */
  readonly priority?: number | undefined;
  /** True if it alone handles its operations; false unless given. */
  readonly exclusive?: boolean | undefined;
}

export const ORDER_MEMBERS = ["name", "priority", "exclusive"] as const;

/** The members of a plugin that set its place among others. */
export function orderOf(
  type: SessionPlugin["type"],
  { name = type, priority = 0, exclusive = false }: PluginOrder,
): Pick<SessionPlugin, "name" | "type" | "priority" | "exclusive"> {
  return { name, type, priority, exclusive };
}

/** The schema of an object that has these members and no other. */
export function objectSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** A limit as it was given, or the usual one. @throws TypeError unless it is whole, and 1 or more. */
export function limitOf(given: number | undefined, usual: number, where: string): number {
  const limit = given ?? usual;
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new TypeError(`${where}: must be a whole number, 1 or more`);
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** @throws TypeError for what cannot name a tool, a program or a server. */
export function assertName(name: unknown, where: string): asserts name is string {
  if (typeof name === "string" && NAME.test(name)) return;
  throw new TypeError(`${where}: a name must be 1 to 64 letters, digits, "_", "." or "-"`);
}
