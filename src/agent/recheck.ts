import type { KnownGrant } from "./grant.js";
import type { Ledger } from "./ledger.js";
import type { Permission } from "./policy.js";
import { matches, readResourceQuery } from "./resources/filter.js";
import type { Resource, ResourceQuery } from "./resources/resource.js";

/**
 * The query that a capability was issued by, where its resources must still match it: if the grant
 * says so, or if it says nothing and the policy has conditions on fields. `undefined` for a capability
 * that was minted without a request, or whose request has no query; `unknown` where the ledger has no
 * record of it: a lost or different ledger must not let through what a query would refuse.
 *
 * @param id - The capability's.
 * @throws StorageError if the ledger cannot be read.
 */
export async function queryAskedAgain(
  id: string,
  { recheck }: KnownGrant,
  permissions: readonly Permission[],
  ledger: Ledger,
): Promise<ResourceQuery | "unknown" | undefined> {
  const asked = recheck ?? permissions.some(({ resources }) => resources.filter !== undefined);
  if (!asked) return undefined;
  const issued = await ledger.issued(id);
  if (issued === undefined) return "unknown";
  const { query: kept } = issued;
  if (kept === undefined) return undefined;
  const reading = readResourceQuery(JSON.parse(kept));
  if (reading.ok) return reading.query;
  throw new TypeError(`the query that ${id} was issued by: ${reading.denial.message}`);
}

/** Whether a resource is what a query names: an item that matches, or the collection itself. */
export function stillMatches(
  { collection, filter = {} }: ResourceQuery,
  resource: Resource,
): boolean {
  if (resource.collection !== collection) return false;
  return resource.kind === "collection" || matches(resource, filter);
}
