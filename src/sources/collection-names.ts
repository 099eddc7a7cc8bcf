import type { Resource } from "../agent/resources/resource.js";

/** Returns the collection in a resource's name; `undefined` if the name contains none. */
export function collectionIn(name: string): string | undefined {
  const slash = name.indexOf("/");
  return slash < 1 ? undefined : name.slice(0, slash);
}

/** Returns the resource that represents a collection itself. */
export function collectionResource(collection: string): Resource {
  const name = `${collection}/`;
  return { name, displayName: collection, collection, kind: "collection", fields: {} };
}
