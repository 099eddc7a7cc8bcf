import type { Resource } from "../agent/resources/resource.js";

/** Returns the collection of a name; `undefined` if it is in none. */
export function collectionIn(name: string): string | undefined {
  const slash = name.indexOf("/");
  return slash < 1 ? undefined : name.slice(0, slash);
}

/** Returns a collection as a resource. */
export function collectionResource(collection: string): Resource {
  const name = `${collection}/`;
  return { name, displayName: collection, collection, kind: "collection", fields: {} };
}
