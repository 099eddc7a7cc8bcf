import { isAbout, isVisible, type Permission } from "./policy.js";
import { invalidRequest, type RequestRefusal, refusedQuery } from "./refusal.js";
import { checkFilter } from "./resources/filter.js";
import { unknownCollection } from "./resources/query-denial.js";
import type { QueryDenial, Resource, ResourceQuery, ResourceSource } from "./resources/resource.js";

/** The items that the query finds, and the collection. One that no permission is about is as if unknown. */
export async function candidates(
  resourceQuery: ResourceQuery | undefined,
  permissions: readonly Permission[],
  source: ResourceSource | undefined,
): Promise<{ readonly ok: true; readonly resources: readonly Resource[] } | RequestRefusal> {
  if (resourceQuery === undefined) return { ok: true, resources: [] };
  if (source === undefined) {
    const message = "this agent has no resources; ask without a resourceQuery";
    return invalidRequest("resourceQuery", message);
  }
  const collections = await visibleCollections(permissions, source);
  const result = collections.includes(resourceQuery.collection)
    ? await source.find(resourceQuery)
    : { ok: false as const, denial: unknownCollection(resourceQuery.collection, collections) };
  const declared = source.declaredFields?.(resourceQuery.collection) !== undefined;
  // A filter that finds nothing that may be seen may be on hidden fields.
  const hidden = result.ok
    ? resourceQuery.filter !== undefined &&
      !result.resources.some((resource) => isVisible(permissions, resource))
    : result.denial.code === "unknown_field";
  if (hidden && !declared) {
    const denial = await fieldDenial(resourceQuery, permissions, source);
    if (denial !== undefined) return refusedQuery(denial);
  } else if (!result.ok) return refusedQuery(result.denial);
  const name = await source.nameOfCollection(resourceQuery.collection);
  const collection = name === undefined ? undefined : await source.get(name);
  const items = result.ok ? result.resources : [];
  return { ok: true, resources: collection === undefined ? items : [...items, collection] };
}

/** The names of the collections that the permissions are about, in order. */
export async function visibleCollections(
  permissions: readonly Permission[],
  source: ResourceSource | undefined,
): Promise<readonly string[]> {
  const all = (await source?.collections()) ?? [];
  return all.filter((name) => isAbout(permissions, name));
}

/** Denies a filter on fields that the principal cannot see, naming only those that it can. */
async function fieldDenial(
  { collection, filter = {} }: ResourceQuery,
  permissions: readonly Permission[],
  source: ResourceSource,
): Promise<QueryDenial | undefined> {
  const all = await source.find({ collection });
  const seen = (all.ok ? all.resources : []).filter((one) => isVisible(permissions, one));
  // For a principal that sees nothing, every filter matches nothing.
  if (seen.length === 0) return undefined;
  const fields = new Set(seen.flatMap((one) => Object.keys(one.fields)));
  return checkFilter(filter, [...fields].sort());
}
