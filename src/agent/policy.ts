import type { ArgumentLimits } from "../caveats/hop-rules.js";
import { matches } from "./resources/filter.js";
import type { Resource, ResourceFilter } from "./resources/resource.js";

/** Selects the resources that a permission is about. */
export interface ResourceSelector {
  /** Names of collections, or `*` for all. */
  readonly collections: readonly string[] | "*";
  /** Selects only items that match the filter. With a filter, the collection itself is not selected. */
  readonly filter?: ResourceFilter;
}

/**
 * Operations that a principal may perform on resources under a grant. Limits on arguments (`constraints`,
 * `operationConstraints`, `arguments`) mean what they mean in a hop. They are appended as a hop to each capability
 * that is issued by this permission, and checked again at each call.
 */
export interface Permission extends ArgumentLimits {
  readonly operations: readonly string[] | "*";
  readonly resources: ResourceSelector;
  /**
   * Agents that may request a capability by this permission, or make a call without a capability; any agent
   * unless given. A capability that such an agent passes on is valid for other agents too.
   */
  readonly invokers?: readonly string[];
}

/** The permissions of principals, checked when a capability is issued and at every call. */
export interface Policy {
  /**
   * Returns all permissions that the principal currently has under the grant; empty if it has none. For a call
   * with a capability, `principal` is the capability's principal.
   */
  permissions(
    principal: string,
    grant: string,
  ): readonly Permission[] | Promise<readonly Permission[]>;
}

/**
 * Returns the permissions that apply to an agent. If the agent is unknown, permissions with `invokers` do not
 * apply.
 */
export function forInvoker(
  permissions: readonly Permission[],
  invoker: string | undefined,
): readonly Permission[] {
  return permissions.filter(
    ({ invokers }) =>
      invokers === undefined || (invoker !== undefined && invokers.includes(invoker)),
  );
}

/** Returns whether a permission names the operation, whatever its resources. */
export function permitsOperation(permissions: readonly Permission[], operation: string): boolean {
  return permissions.some(({ operations }) => covers(operations, operation));
}

/** Returns whether a permission allows the operation on this resource. */
export function permitsResource(
  permissions: readonly Permission[],
  operation: string,
  resource: Resource,
): boolean {
  return permissions.some(
    ({ operations, resources }) => covers(operations, operation) && selects(resources, resource),
  );
}

/** Returns whether a permission allows any operation on the resource. */
export function isVisible(permissions: readonly Permission[], resource: Resource): boolean {
  return permissions.some(({ resources }) => selects(resources, resource));
}

/** Returns whether a permission allows the operation on everything in a collection. */
export function permitsCollection(
  permissions: readonly Permission[],
  operation: string,
  collection: string | undefined,
): boolean {
  return permissions.some(({ operations, resources: { collections, filter } }) => {
    if (filter !== undefined || !covers(operations, operation)) return false;
    return collections === "*" || (collection !== undefined && collections.includes(collection));
  });
}

/** Returns whether a permission names the collection, even if it selects only items of the collection. */
export function isAbout(permissions: readonly Permission[], collection: string): boolean {
  return permissions.some(
    ({ resources: { collections } }) => collections === "*" || collections.includes(collection),
  );
}

function covers(operations: readonly string[] | "*", operation: string): boolean {
  return operations === "*" || operations.includes(operation);
}

function selects({ collections, filter }: ResourceSelector, resource: Resource): boolean {
  if (collections !== "*" && !collections.includes(resource.collection)) return false;
  if (filter === undefined) return true;
  return resource.kind === "item" && matches(resource, filter);
}
