import type { ArgumentLimits } from "../caveats/hop-rules.js";
import { mistakesIn } from "../caveats/operation-mistakes.js";
import type { AgentContext } from "./agent-options.js";
import type { Caller } from "./caller.js";
import type { CapabilityRequest } from "./capability-request.js";
import type { KnownGrant } from "./grant.js";
import { ownPermissions } from "./permissions.js";
import { isAbout, isVisible, type Permission, permitsResource } from "./policy.js";
import { groupsByLimits, type LimitGroup, permittingGroups, sharesOf } from "./policy-limits.js";
import {
  invalidRequest,
  type RefusedGrant,
  type RequestDenial,
  type RequestRefusal,
  refusedQuery,
} from "./refusal.js";
import { checkFilter, unknownCollection } from "./resources/filter.js";
import type { QueryDenial, Resource, ResourceQuery, ResourceSource } from "./resources/resource.js";
import { targetOfOperation } from "./skill.js";

/** The contents of one capability: each operation is allowed on each resource. */
export interface Offer {
  readonly grant: KnownGrant;
  readonly operations: readonly string[];
  /** Absent if the capability is not limited to resources. */
  readonly resources?: readonly Resource[];
  /** The policy's limits on arguments; absent if there are none. */
  readonly limits?: ArgumentLimits | undefined;
}

/** The intersection of grants, request and policy. */
export type Offers =
  | {
      readonly ok: true;
      readonly offers: readonly Offer[];
      readonly refused: readonly RefusedGrant[];
      /** The reason why there are no offers, if the query matches nothing. */
      readonly reason?: string;
    }
  | RequestRefusal;

// The message must not reveal whether a resource exists that the principal may not use.
const UNMATCHED = "the query matches nothing that the principal may use in this way";

/**
 * Returns the intersection of grants, request and policy. If the policy allows different operations on
 * different resources or with different limits on arguments, these become separate offers, so that no capability
 * allows more than the policy.
 *
 * @param caller - The principal and the invoker of the request.
 */
export async function offersFor(
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
): Promise<Offers> {
  const wrong = grantDenial(request, context.grants) ?? entryDenial(request, context.grants);
  if (wrong !== undefined) return { ok: false, denial: wrong };
  const asked: GrantLeft[] = [];
  const refused: RefusedGrant[] = [];
  for (const id of request.grants) {
    const grant = context.grants.get(id);
    if (grant === undefined) continue;
    const permissions = await ownPermissions(caller, id, context);
    const groups = groupsByLimits(permissions);
    const left = operationsLeft(grant, request, groups);
    if ("takenBy" in left) refused.push(left);
    else asked.push({ grant, permissions, groups, left });
  }
  const permitted = asked.flatMap(({ permissions }) => permissions);
  const found = await candidates(
    asked.length === 0 ? undefined : request.resourceQuery,
    permitted,
    context.resources,
  );
  if (!found.ok) return found;

  const offers: Offer[] = [];
  for (const { grant, permissions, groups, left } of asked) {
    const { id } = grant;
    const needsResources = left.some(
      (operation) => targetOfOperation(operation, context.operations) !== "none",
    );
    if (needsResources && request.resourceQuery === undefined && !grant.legacy) {
      const message =
        `${id} is for resources: say which with a resourceQuery ({"collection": …, "filter": …}), ` +
        `or ask only for operations that need none`;
      const code = "resource_query_required";
      const known = await visibleCollections(permissions, context.resources);
      return { ok: false, denial: { code, message, path: "resourceQuery", known, grants: [id] } };
    }
    // A legacy grant without a query is not limited to resources.
    const own =
      needsResources && request.resourceQuery === undefined
        ? unboundOffers(grant, left, groups, request)
        : offersOf(grant, left, groups, request, found.resources, context);
    if (own.length === 0) refused.push({ grant: id, takenBy: "request", message: UNMATCHED });
    offers.push(...own);
  }
  dropUnsupported(offers, refused);
  if (offers.length > 0) return { ok: true, offers, refused };
  if (refused.some(({ takenBy }) => takenBy === "request")) {
    return { ok: true, offers, refused, reason: UNMATCHED };
  }
  const message = refused.map((one) => one.message).join("; ");
  const denial = { code: "nothing_left", message, grants: request.grants, refused } as const;
  return { ok: false, denial };
}

/** Withdraws the offers of each grant that requires another grant, if the policy leaves nothing of that other grant. */
function dropUnsupported(offers: Offer[], refused: RefusedGrant[]): void {
  for (const { grant } of offers) {
    const { id } = grant;
    // Ignore a required grant of which the request itself left nothing: the caller chose not to use it.
    const without = grant.requires.find(
      (other) =>
        !offers.some((offer) => offer.grant.id === other) &&
        refused.some((one) => one.grant === other && one.takenBy === "policy"),
    );
    if (without === undefined) continue;
    const message = `${id} requires ${without}, under which the policy allows nothing`;
    refused.push({ grant: id, takenBy: "policy", message });
    const kept = offers.filter((offer) => offer.grant.id !== id);
    offers.splice(0, offers.length, ...kept);
    // Further grants may require the grant whose offers were just withdrawn.
    dropUnsupported(offers, refused);
    return;
  }
}

function grantDenial(
  { grants }: CapabilityRequest,
  known: ReadonlyMap<string, KnownGrant>,
): RequestDenial | undefined {
  const unknown = grants.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    const names = [...known.keys()];
    const message = `this agent has no grant ${unknown.join(", ").slice(0, 256)}; it has ${names.join(", ")}`;
    return { code: "unknown_grant", message, path: "grants", grants: unknown, known: names };
  }
  const missing = grants
    .flatMap((id) => known.get(id)?.requires ?? [])
    .filter((id) => !grants.includes(id));
  if (missing.length === 0) return undefined;
  const required = [...new Set(missing)];
  const message = `the grants asked for require ${required.join(", ")}; ask for them together`;
  return { code: "missing_required_grants", message, path: "grants", grants: required };
}

/**
 * Refuses limits on the arguments of an operation that no requested grant has. A limit with a misspelt
 * operation would apply to nothing.
 */
function entryDenial(
  { grants, restrictions }: CapabilityRequest,
  known: ReadonlyMap<string, KnownGrant>,
): RequestDenial | undefined {
  const granted = grants.flatMap((id) => known.get(id)?.operations ?? []);
  const { operations: asked = granted } = restrictions;
  const operations = granted.filter((operation) => asked.includes(operation));
  const [mistake] = mistakesIn(restrictions, operations);
  return mistake && { code: "invalid_request", message: mistake.message, path: mistake.rule };
}

/** A grant with the operations that request and policy leave of it, before its resources are determined. */
interface GrantLeft {
  readonly grant: KnownGrant;
  readonly permissions: readonly Permission[];
  readonly groups: readonly LimitGroup[];
  readonly left: readonly string[];
}

function operationsLeft(
  grant: KnownGrant,
  { restrictions }: CapabilityRequest,
  groups: readonly LimitGroup[],
): readonly string[] | RefusedGrant {
  const { operations } = restrictions;
  const asked = grant.operations.filter((name) => operations?.includes(name) ?? true);
  if (asked.length === 0) {
    const message = `${grant.id} has none of the operations asked for; it has ${grant.operations.join(", ")}`;
    return { grant: grant.id, takenBy: "grant", message };
  }
  const left = asked.filter(
    (operation) => permittingGroups(groups, operation, restrictions).length > 0,
  );
  if (left.length > 0) return left;
  const message = `the principal's policy allows nothing of what was asked for under ${grant.id}`;
  return { grant: grant.id, takenBy: "policy", message };
}

/** Returns offers without resources, one for each group of limits. */
function unboundOffers(
  grant: KnownGrant,
  operations: readonly string[],
  groups: readonly LimitGroup[],
  { restrictions }: CapabilityRequest,
): Offer[] {
  const shares = sharesOf(operations, (operation) =>
    permittingGroups(groups, operation, restrictions),
  );
  return shares.map(({ group: { limits }, operations: own }) => ({
    grant,
    operations: own,
    limits,
  }));
}

function offersOf(
  grant: KnownGrant,
  operations: readonly string[],
  groups: readonly LimitGroup[],
  request: CapabilityRequest,
  found: readonly Resource[],
  context: AgentContext,
): Offer[] {
  const free = operations.filter(
    (operation) => targetOfOperation(operation, context.operations) === "none",
  );
  const bound = new Map<string, Offer & { readonly resources: Resource[] }>();
  for (const resource of found) {
    const shares = sharesOf(operations, (operation) =>
      targetOfOperation(operation, context.operations) === resource.kind
        ? permittingGroups(groups, operation, request.restrictions, (permissions) =>
            permitsResource(permissions, operation, resource),
          )
        : [],
    );
    for (const { group, operations: own } of shares) {
      const key = JSON.stringify([resource.kind, groups.indexOf(group), ...own]);
      const offer = bound.get(key) ?? {
        grant,
        operations: own,
        resources: [],
        limits: group.limits,
      };
      offer.resources.push(resource);
      bound.set(key, offer);
    }
  }
  const largestFirst = [...bound.values()].sort((a, b) => b.resources.length - a.resources.length);
  return [...unboundOffers(grant, free, groups, request), ...largestFirst];
}

/**
 * Returns the items that the query matches, and the collection itself. A collection that no permission is about
 * is reported as unknown.
 */
async function candidates(
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
  // A filter that matches no visible resource may name fields that only hidden resources have.
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

/** Returns the sorted names of the collections that the permissions are about. */
async function visibleCollections(
  permissions: readonly Permission[],
  source: ResourceSource | undefined,
): Promise<readonly string[]> {
  const all = (await source?.collections()) ?? [];
  return all.filter((name) => isAbout(permissions, name));
}

/** Denies a filter on fields that the principal cannot see. The denial lists only visible fields. */
async function fieldDenial(
  { collection, filter = {} }: ResourceQuery,
  permissions: readonly Permission[],
  source: ResourceSource,
): Promise<QueryDenial | undefined> {
  const all = await source.find({ collection });
  const seen = (all.ok ? all.resources : []).filter((one) => isVisible(permissions, one));
  // A principal that sees nothing gets no denial; its filters match nothing.
  if (seen.length === 0) return undefined;
  const fields = new Set(seen.flatMap((one) => Object.keys(one.fields)));
  return checkFilter(filter, [...fields].sort());
}
