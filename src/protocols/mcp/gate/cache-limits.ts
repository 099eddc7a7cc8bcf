import type { JsonObject } from "../../../bytes/json.js";
import type { Edit } from "../message/edit.js";
import type { GateParts } from "./gate-parts.js";
import type { OpenRequest } from "./host-request.js";

/**
 * Limits the caching of a result that depends on who asks: for that party alone, and no longer than its tokens live.
 *
 * @param result - A result of the new era. One that does not say how it may be cached stays as it is.
 */
export function cacheEdits(
  { authority }: GateParts,
  { presented }: OpenRequest,
  result: JsonObject,
): readonly Edit[] {
  const { ttlMs, cacheScope } = result;
  if (ttlMs === undefined && cacheScope === undefined) return [];
  const left = Math.max(0, (authority.expiresAt(presented) ?? 0) - Date.now());
  const limit = Math.min(typeof ttlMs === "number" ? ttlMs : 0, left);
  return [
    { path: ["result", "cacheScope"], value: "private" },
    ...(limit === ttlMs ? [] : [{ path: ["result", "ttlMs"], value: limit }]),
  ];
}
