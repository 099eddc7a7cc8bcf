// The resources that a call may reach. The gate has checked them. A skill uses only these resources.

/** @import { Resource } from "../../src/agent/resources/resource.js" */
/** @import { SkillCall } from "../../src/agent/skill.js" */

/** The schema of an argument that names a resource. */
export const HANDLE = { type: "string", format: "resource-handle" };

/**
 * Returns the resource that the argument `resourceHandle` names.
 *
 * @param {SkillCall} call
 */
export function named(call) {
  const resource = call.resources.get(String(call.arguments["resourceHandle"]));
  if (resource === undefined) throw new Error("the call names no resource that was let through");
  return resource;
}

/**
 * Returns the documents that the call may reach, ordered by title.
 *
 * @param {SkillCall} call
 * @returns {[handle: string, resource: Resource][]}
 */
export function items(call) {
  return [...call.resources]
    .filter(([, { kind }]) => kind === "item")
    .sort(([, a], [, b]) => (a.displayName < b.displayName ? -1 : 1));
}
