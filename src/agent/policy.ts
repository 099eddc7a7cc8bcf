import { matches } from "./resources/filter.js";
import type { Resource, ResourceFilter } from "./resources/resource.js";

/** Which resources a permission is about. */
export interface ResourceSelector {
  /** Names of collections, or `*` for all. */
  readonly collections: readonly string[] | "*";
  /** Only items that match. With a filter, a collection itself is not selected. */
  readonly filter?: ResourceFilter;
}

/** Something that a principal may do under a grant. */
export interface Permission {
  readonly operations: readonly string[] | "*";
  readonly resources: ResourceSelector;
  /**
   * Agents that may request by this, or act without a capability; any unless given. Capabilities that they pass on
   * stay valid for others.
   */
  readonly invokers?: readonly string[];
}

/** The permissions of principals, checked when a capability is issued and at every call. */
export interface Policy {
  /** Everything that the principal, a capability's user, may do under the grant now; empty for nothing. */
  permissions(
    principal: string,
    grant: string,
  ): readonly Permission[] | Promise<readonly Permission[]>;
}

/** The permissions that apply to an agent; those that name invokers never do where none is known. */
export function forInvoker(
  permissions: readonly Permission[],
  invoker: string | undefined,
): readonly Permission[] {
  return permissions.filter(
    ({ invokers }) =>
      invokers === undefined || (invoker !== undefined && invokers.includes(invoker)),
  );
}

/** Returns whether any of the permissions covers the operation, on some resource or other. */
export function permitsOperation(permissions: readonly Permission[], operation: string): boolean {
  return permissions.some(({ operations }) => covers(operations, operation));
}

/** Returns whether any of the permissions covers the operation on this resource. */
export function permitsResource(
  permissions: readonly Permission[],
  operation: string,
  resource: Resource,
): boolean {
  return permissions.some(
    ({ operations, resources }) => covers(operations, operation) && selects(resources, resource),
  );
}

/** Returns whether any of the permissions is about the resource, whatever may be done to it. */
export function isVisible(permissions: readonly Permission[], resource: Resource): boolean {
  return permissions.some(({ resources }) => selects(resources, resource));
}

/** Returns whether any of the permissions covers the operation on whatever is in a collection. */
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

/** Returns whether any of the permissions is about the collection, or about something in it. */
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
