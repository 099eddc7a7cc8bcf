import { repeated } from "../caveats/scalar.js";
import type { HandleScope } from "../issuer/handle.js";
import type { AgentContext } from "./agent-options.js";
import type { KnownGrant } from "./grant.js";
import type { Ledger } from "./ledger.js";
import {
  isAbout,
  type Permission,
  permitsCollection,
  permitsOperation,
  permitsResource,
} from "./policy.js";
import type { AgentDenial } from "./refusal.js";
import { matches, readResourceQuery } from "./resources/filter.js";
import type { Resource, ResourceQuery, ResourceSource } from "./resources/resource.js";
import { nameOf, type Operation, type Skill, targetOf } from "./skill.js";

/** The authority for a call: a capability, or a principal's own permissions. */
interface ResourceAuthority {
  /** The scope for which the handles must have been made. */
  readonly scope: HandleScope;
  /** The handles to which the authority is limited; absent if it has no such limit. */
  readonly limited?: readonly string[] | undefined;
  /** The permissions that the policy currently gives. */
  readonly permissions: readonly Permission[];
  /** Denials by the policy's limits on arguments, whatever the resources of the call; empty if it violates no limit. */
  readonly beyond: readonly AgentDenial[];
  /** A query that resources must match as well; none unless given. If `unknown`, no handle is allowed. */
  readonly query?: ResourceQuery | "unknown" | undefined;
}

// A caller can name any number of handles, so limit the number of denials.
const MAX_REPORTED = 16;
/** Maximum number of handles that are opened at once. */
const MAX_OPENED = 256;

type ResolveContext = Pick<AgentContext, "handles" | "resources">;

/** The resources that a call may use, by handle, and the denials of the other handles. */
export interface ResolvedResources {
  readonly resources: Map<string, Resource>;
  readonly denials: AgentDenial[];
}

/**
 * Resolves the handles in the arguments, and for a scoped skill all handles of the authority. Every resource
 * must exist and be allowed by the policy.
 *
 * @param named - The handles in the arguments.
 */
export async function resolveResources(
  asked: Operation | Skill,
  named: readonly string[],
  authority: ResourceAuthority,
  context: ResolveContext,
): Promise<ResolvedResources> {
  const { permissions, limited, beyond } = authority;
  if (beyond.length > 0) return { resources: new Map(), denials: [...beyond] };
  const { resources, denials } = await resolve(asked, named, authority, context, MAX_REPORTED);
  if (asked.reach === "named" && named.length === 0) {
    const message = `${nameOf(asked)} takes a resource handle, and the arguments have none`;
    denials.push({ code: "handle_invalid", rule: "resourceHandles", message });
  }
  const unlimited = asked.reach === "scoped" && limited === undefined;
  if (unlimited) await addEverything(resources, asked, authority, context);
  const anywhere = asked.reach === "none" || unlimited;
  if (anywhere && !permitsOperation(permissions, asked.operation)) {
    denials.push(policyDenial(asked.operation));
  }
  if (asked.reach !== "scoped" || limited === undefined) return { resources, denials };

  const others = limited.filter((handle) => !resources.has(handle));
  const rest = await resolve(asked, others, authority, context, others.length);
  for (const [handle, resource] of rest.resources) resources.set(handle, resource);
  // A scoped call is allowed even if some of its resources are gone. It is denied if none of them can be used.
  if (resources.size === 0) denials.push(...rest.denials);
  return { resources, denials };
}

/** Resolves handles to resources. Stops after `maxDenials` denials. */
async function resolve(
  asked: Operation | Skill,
  handles: readonly string[],
  authority: ResourceAuthority,
  context: ResolveContext,
  maxDenials: number,
): Promise<ResolvedResources> {
  const resources = new Map<string, Resource>();
  const denials: AgentDenial[] = [];
  let names: ReadonlyMap<string, string> = new Map();
  for (const [at, handle] of handles.entries()) {
    if (denials.length === maxDenials) break;
    if (at % MAX_OPENED === 0) {
      names = await context.handles.open(authority.scope, handles.slice(at, at + MAX_OPENED));
    }
    const found = await resolveOne(asked, handle, names.get(handle), authority, context.resources);
    if ("code" in found) denials.push(found);
    else resources.set(handle, found);
  }
  return { resources, denials };
}

async function resolveOne(
  asked: Operation | Skill,
  handle: string,
  name: string | undefined,
  authority: ResourceAuthority,
  source: ResourceSource | undefined,
): Promise<Resource | AgentDenial> {
  const about = { rule: "resourceHandles", actual: repeated(handle) } as const;
  if (name === undefined) {
    const message = "the handle was not made for this capability";
    return { code: "handle_invalid", ...about, message };
  }
  const resource = await source?.get(name);
  if (resource === undefined) {
    // A caller that may not use the resource must not learn whether it exists.
    const collection = source?.collectionOf?.(name);
    if (!permitsCollection(authority.permissions, asked.operation, collection)) {
      return { ...policyDenial(asked.operation), actual: repeated(handle) };
    }
    const message = "the handle's resource no longer exists";
    return { code: "resource_gone", ...about, message };
  }
  const target = asked.target ?? "item";
  if (asked.reach !== "none" && resource.kind !== target) {
    const message = `${nameOf(asked)} takes the handle of ${target === "item" ? "an item" : "a collection"}`;
    return { code: "handle_invalid", ...about, expected: target, message };
  }
  if (!permitsResource(authority.permissions, asked.operation, resource)) {
    return { ...policyDenial(asked.operation), actual: repeated(handle) };
  }
  const { query } = authority;
  const known = query !== "unknown";
  if (known && (query === undefined || stillMatches(query, resource))) return resource;
  const message = known
    ? "the handle's resource no longer matches the query by which it was granted"
    : "the ledger does not know by which query the handle was granted";
  return { code: "policy_denied", rule: "query", actual: repeated(handle), message };
}

/** Adds every resource that the policy allows, for an authority that is not limited to handles. */
async function addEverything(
  found: Map<string, Resource>,
  asked: Operation | Skill,
  { permissions, scope }: ResourceAuthority,
  { handles, resources: source }: ResolveContext,
): Promise<void> {
  const permitted: Resource[] = [];
  for (const collection of (await source?.collections()) ?? []) {
    if (!isAbout(permissions, collection)) continue;
    const inIt = await inside(collection, targetOf(asked), source);
    permitted.push(...inIt.filter((one) => permitsResource(permissions, asked.operation, one)));
  }
  const names = permitted.map(({ name }) => name);
  const sealed = await handles.seal(scope, names);
  for (const resource of permitted) {
    const handle = sealed.get(resource.name);
    if (handle !== undefined) found.set(handle, resource);
  }
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
  const message = `the policy does not allow ${operation} here, or the resource no longer exists`;
  return { code: "policy_denied", rule: "policy", message };
}

/**
 * Returns the query that a capability's resources must still match. `recheck` of the grant says whether to
 * check the query. If `recheck` is absent, the query is checked only if the policy filters resources.
 * @returns `undefined` if there is nothing to check. `unknown` if the ledger has no record of the capability,
 *   so that a lost ledger allows nothing.
 *
 * @param id - The capability's id.
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

/** Returns whether a resource is an item that matches the query, or the query's collection itself. */
function stillMatches({ collection, filter = {} }: ResourceQuery, resource: Resource): boolean {
  if (resource.collection !== collection) return false;
  return resource.kind === "collection" || matches(resource, filter);
}
