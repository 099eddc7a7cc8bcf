import type { JsonObject } from "../../../bytes/json.js";
import type { Edit } from "../message/edit.js";
import type { GateParts } from "./gate-parts.js";
import type { OpenRequest } from "./host-request.js";

/**
 * Limits the caching of a result that depends on the tokens: the scope is `private`, and the lifetime ends no later
 * than the first expiry of a token.
 *
 * @param result - A result of the new era. A result without `ttlMs` and `cacheScope` gets no edits.
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
