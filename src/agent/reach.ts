import {
  isAbout,
  type Permission,
  permitsCollection,
  permitsOperation,
  permitsResource,
} from "./policy.js";
import { stillMatches } from "./recheck.js";
import type { AgentDenial } from "./refusal.js";
import type { Resource, ResourceQuery, ResourceSource } from "./resources/resource.js";
import { type Skill, targetOf } from "./skill.js";

/** Handles and permissions of one authority: a capability's, or a principal's own. */
export interface Standing {
  /** The name a handle stands for; `undefined` if it is noise here. */
  open(handle: string): string | undefined;
  /** A handle for a name, where no list of handles limits the authority. */
  seal(name: string): string | undefined;
  /** The handles it is limited to; absent if to none. */
  readonly limited?: readonly string[];
  /** What the policy allows at this moment. */
  readonly permissions: readonly Permission[];
  /** What resources must match beside; anything unless given. */
  readonly query?: ResourceQuery | "unknown" | undefined;
}

// The caller chooses how many handles it names, so cap how many are reported.
const MAX_REPORTED = 16;

/** What a call may reach, or every reason why not. */
export interface Reach {
  readonly resources: ReadonlyMap<string, Resource>;
  readonly denials: readonly AgentDenial[];
}

/**
 * Resolves the handles of a call, and of a scoped skill all that are left, to resources that exist
 * and that the policy allows at this moment.
 *
 * @param named - The handles in the arguments.
 */
export async function reachOf(
  skill: Skill,
  named: readonly string[],
  standing: Standing,
  source: ResourceSource | undefined,
): Promise<Reach> {
  const { permissions } = standing;
  const denials: AgentDenial[] = [];
  const resources = new Map<string, Resource>();
  for (const handle of named) {
    if (denials.length === MAX_REPORTED) break;
    const found = await resolve(skill, handle, standing, source);
    if ("code" in found) denials.push(found);
    else resources.set(handle, found);
  }
  if (skill.reach === "named" && named.length === 0) {
    const message = `${skill.id} takes a resource handle, and the arguments have none`;
    denials.push({ code: "handle_invalid", rule: "resourceHandles", message });
  }
  if (skill.reach === "none" && !permitsOperation(permissions, skill.operation)) {
    denials.push(policyDenial(skill.operation));
  }
  if (skill.reach !== "scoped") return { resources, denials };

  const left = standing.limited;
  if (left === undefined) {
    for (const [handle, resource] of await everything(skill, standing, source)) {
      resources.set(handle, resource);
    }
    if (!permitsOperation(permissions, skill.operation))
      denials.push(policyDenial(skill.operation));
    return { resources, denials };
  }
  const dropped: AgentDenial[] = [];
  for (const handle of left) {
    if (resources.has(handle)) continue;
    const found = await resolve(skill, handle, standing, source);
    if ("code" in found) dropped.push(found);
    else resources.set(handle, found);
  }
  // Some of many may have gone since; a call that reaches nothing at all gets the reasons.
  if (resources.size === 0) denials.push(...dropped);
  return { resources, denials };
}

async function resolve(
  skill: Skill,
  handle: string,
  standing: Standing,
  source: ResourceSource | undefined,
): Promise<Resource | AgentDenial> {
  const name = standing.open(handle);
  const about = { rule: "resourceHandles", actual: handle } as const;
  if (name === undefined) {
    const message = "the handle was not made for this capability";
    return { code: "handle_invalid", ...about, message };
  }
  const resource = await source?.get(name);
  if (resource === undefined) {
    // A caller that may not use the resource must not learn whether it exists.
    const collection = source?.collectionOf?.(name);
    if (!permitsCollection(standing.permissions, skill.operation, collection)) {
      return { ...policyDenial(skill.operation), actual: handle };
    }
    const message = "what the handle stands for is not there any more";
    return { code: "resource_gone", ...about, message };
  }
  const target = skill.target ?? "item";
  if (skill.reach !== "none" && resource.kind !== target) {
    const message = `${skill.id} takes the handle of ${target === "item" ? "an item" : "a collection"}`;
    return { code: "handle_invalid", ...about, expected: target, message };
  }
  if (!permitsResource(standing.permissions, skill.operation, resource)) {
    return { ...policyDenial(skill.operation), actual: handle };
  }
  const { query } = standing;
  const known = query !== "unknown";
  if (known && (query === undefined || stillMatches(query, resource))) return resource;
  const message = known
    ? "what the handle stands for no longer matches the query it was granted for"
    : "the ledger does not know by which query the handle was granted";
  return { code: "policy_denied", rule: "query", actual: handle, message };
}

/** All that the policy allows, for an authority that is not limited to handles. */
async function everything(
  skill: Skill,
  standing: Standing,
  source: ResourceSource | undefined,
): Promise<ReadonlyMap<string, Resource>> {
  const found = new Map<string, Resource>();
  for (const collection of (await source?.collections()) ?? []) {
    if (!isAbout(standing.permissions, collection)) continue;
    for (const resource of await inside(collection, targetOf(skill), source)) {
      if (!permitsResource(standing.permissions, skill.operation, resource)) continue;
      const handle = standing.seal(resource.name);
      if (handle !== undefined) found.set(handle, resource);
    }
  }
  return found;
}

async function inside(
  collection: string,
  target: ReturnType<typeof targetOf>,
  source: ResourceSource | undefined,
): Promise<readonly Resource[]> {
  if (target !== "collection") {
    const result = await source?.find({ collection });
    return result?.ok === true ? result.resources : [];
  }
  const name = await source?.nameOfCollection(collection);
  const resource = name === undefined ? undefined : await source?.get(name);
  return resource === undefined ? [] : [resource];
}

function policyDenial(operation: string): AgentDenial {
  const message = `the policy does not allow ${operation} here, or it is not there any more`;
  return { code: "policy_denied", rule: "policy", message };
}
