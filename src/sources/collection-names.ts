import type { Resource } from "../agent/resources/resource.js";

/** The collection that a name is in; `undefined` if it is in none. */
export function collectionIn(name: string): string | undefined {
  const slash = name.indexOf("/");
  return slash < 1 ? undefined : name.slice(0, slash);
}

/** A collection itself, as a resource. */
export function collectionResource(collection: string): Resource {
  const name = `${collection}/`;
  return { name, displayName: collection, collection, kind: "collection", fields: {} };
}
