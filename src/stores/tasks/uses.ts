import type { AuthorityUse } from "../../agent/coverage.js";

/** Each use once. */
export function distinct(uses: readonly AuthorityUse[]): readonly AuthorityUse[] {
  return [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()];
}

/** Whether JSON that was read says what something was done with. */
export function isUse(value: unknown): value is AuthorityUse {
  if (typeof value !== "object" || value === null) return false;
  const use: { grant?: unknown; operation?: unknown; resources?: unknown } = value;
  const { grant, operation, resources } = use;
  const known = operation === undefined || typeof operation === "string";
  const named = Array.isArray(resources) && resources.every((name) => typeof name === "string");
  return typeof grant === "string" && known && named;
}
