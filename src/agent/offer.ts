import type { AgentContext } from "./agent-options.js";
import type { Caller } from "./caller.js";
import { candidates, visibleCollections } from "./candidates.js";
import type { CapabilityRequest } from "./capability-request.js";
import type { KnownGrant } from "./grant.js";
import { ownPermissions } from "./permissions.js";
import { type Permission, permitsOperation, permitsResource } from "./policy.js";
import type { RefusedGrant, RequestDenial, RequestRefusal } from "./refusal.js";
import type { Resource } from "./resources/resource.js";
import { targetOf } from "./skill.js";

/** What one capability is to hold: operations, each of which may be done to each resource. */
export interface Offer {
  readonly grant: KnownGrant;
  readonly operations: readonly string[];
  /** Absent if the capability is to name no resources. */
  readonly resources?: readonly Resource[];
}

/** What grant, request and policy have in common, grant by grant. */
export type Offers =
  | {
      readonly ok: true;
      readonly offers: readonly Offer[];
      readonly refused: readonly RefusedGrant[];
      /** Why there are no offers, where the query matches nothing. */
      readonly reason?: string;
    }
  | RequestRefusal;

// The message must not reveal whether something exists that the principal may not use.
const UNMATCHED = "the query matches nothing that the principal may use in this way";

/**
 * Grant, request and policy intersected. Operations that differ by resource are offered apart, so that no
 * capability holds a pair that the policy does not.
 *
 * @param caller - On whose behalf, and by which agent.
 */
export async function offersFor(
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
): Promise<Offers> {
  const wrong = grantDenial(request, context.grants);
  if (wrong !== undefined) return { ok: false, denial: wrong };
  const asked: AskedGrant[] = [];
  const refused: RefusedGrant[] = [];
  for (const id of request.grants) {
    const grant = context.grants.get(id);
    if (grant === undefined) continue;
    const permissions = await ownPermissions(caller, id, context);
    const left = operationsLeft(grant, request, permissions);
    if ("takenBy" in left) refused.push(left);
    else asked.push({ grant, permissions, left });
  }
  const permitted = asked.flatMap(({ permissions }) => permissions);
  const found = await candidates(
    asked.length === 0 ? undefined : request.resourceQuery,
    permitted,
    context.resources,
  );
  if (!found.ok) return found;

  const offers: Offer[] = [];
  for (const { grant, permissions, left } of asked) {
    const { id } = grant;
    const needsResources = left.some((operation) => targetFor(operation, context) !== "none");
    if (needsResources && request.resourceQuery === undefined && !grant.legacy) {
      const message =
        `${id} is for resources: say which with a resourceQuery ({"collection": …, "filter": …}), ` +
        `or ask only for operations that need none`;
      const code = "resource_query_required";
      const known = await visibleCollections(permissions, context.resources);
      return { ok: false, denial: { code, message, path: "resourceQuery", known, grants: [id] } };
    }
    // Only a legacy grant comes this far without a query.
    const own =
      needsResources && request.resourceQuery === undefined
        ? [{ grant, operations: left }]
        : offersOf(grant, left, permissions, found.resources, context);
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

/** Takes back what was offered under a grant if the policy allows nothing under one that it requires. */
function dropUnsupported(offers: Offer[], refused: RefusedGrant[]): void {
  for (const { grant } of offers) {
    const { id } = grant;
    // A caller that needs only part of the grant may ask for that part.
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
    // Others may require this one.
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
    const message = `there is no grant ${unknown.join(", ").slice(0, 256)}; there are ${names.join(", ")}`;
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

/** A grant of which something is left, before resources are looked at. */
interface AskedGrant {
  readonly grant: KnownGrant;
  readonly permissions: readonly Permission[];
  readonly left: readonly string[];
}

function operationsLeft(
  grant: KnownGrant,
  { restrictions: { operations } }: CapabilityRequest,
  permissions: readonly Permission[],
): readonly string[] | RefusedGrant {
  const asked = grant.operations.filter((name) => operations?.includes(name) ?? true);
  if (asked.length === 0) {
    const message = `${grant.id} has none of the operations asked for; it has ${grant.operations.join(", ")}`;
    return { grant: grant.id, takenBy: "grant", message };
  }
  const left = asked.filter((operation) => permitsOperation(permissions, operation));
  if (left.length > 0) return left;
  const message = `the principal's policy allows nothing of what was asked for under ${grant.id}`;
  return { grant: grant.id, takenBy: "policy", message };
}

function offersOf(
  grant: KnownGrant,
  operations: readonly string[],
  permissions: readonly Permission[],
  found: readonly Resource[],
  context: AgentContext,
): Offer[] {
  const offers: Offer[] = [];
  const free = operations.filter((operation) => targetFor(operation, context) === "none");
  if (free.length > 0) offers.push({ grant, operations: free });
  const groups = new Map<string, { operations: readonly string[]; resources: Resource[] }>();
  for (const resource of found) {
    const allowed = operations.filter(
      (operation) =>
        targetFor(operation, context) === resource.kind &&
        permitsResource(permissions, operation, resource),
    );
    if (allowed.length === 0) continue;
    const key = JSON.stringify([resource.kind, ...allowed]);
    const group = groups.get(key) ?? { operations: allowed, resources: [] };
    group.resources.push(resource);
    groups.set(key, group);
  }
  const largestFirst = [...groups.values()].sort((a, b) => b.resources.length - a.resources.length);
  return [...offers, ...largestFirst.map((group) => ({ grant, ...group }))];
}

function targetFor(operation: string, { operations }: AgentContext): ReturnType<typeof targetOf> {
  const known = operations.get(operation);
  return known === undefined ? "none" : targetOf(known);
}
