// What stands before a resource server's routes: the one check, and an adapter each for Express, Fetch
// and node:http. This file and the Fetch adapter run where there is no Node.

import type { Decision, VerifiedCapability } from "../capability/authorize.js";
import type { Denial } from "../capability/denial.js";
import { type Invocation, plainArguments, plainHandles } from "../caveats/invocation.js";
import { limitsArguments } from "../caveats/operation-authority.js";
import { shown } from "../caveats/scalar.js";
import { described } from "../checks/described.js";
import { notA } from "../checks/kinds.js";
import { assertMembers, meant } from "../checks/members.js";
import { NotPlainError } from "../checks/plain.js";
import { type HeaderReader, presentedToken } from "./presented-token.js";
import { denied, missing, type Refusal, unreadable } from "./refusal.js";

/** What checks capabilities: an `Issuer`, or anything else with its `authorize`. */
export interface CapabilityAuthority {
  authorize(token: string, invocation: Invocation): Decision;
  /** Called before each `authorize`, and waited for: a revocation list is brought up to date. */
  catchUp?(): Promise<void>;
  /** The grants and their operations, where it knows them: routes may name no others then. */
  readonly grants?: ReadonlyMap<string, { readonly operations: readonly string[] }> | undefined;
}

/** What all routes of a resource server have in common. */
export interface ResourceServerOptions {
  /** The `realm` of challenges: printable ASCII without quotes and backslashes; `proviso` unless given. */
  readonly realm?: string;
}

/** The capability that a request may use, or the answer that refuses it. */
type Checked =
  | { readonly ok: true; readonly capability: VerifiedCapability }
  | { readonly ok: false; readonly refusal: Refusal };

/** Checks one request of a route. */
export type RouteCheck<Args extends readonly unknown[]> = (
  header: HeaderReader,
  ...args: Args
) => Promise<Checked>;

/** Unless the app says otherwise: no shared cache knows that `Proviso-Capability` decides who reads. */
export const PRIVATE = "private, no-cache";

/**
 * Makes the checks of routes: the token, what the route asks of it, then one `authorize`.
 *
 * @returns A check that rejects if a requirement's function or the authority fails: no answer comes from
 *   less.
 * @throws TypeError on wrong options, and, for each route, on a wrong requirement.
 */
export function createCheck(
  authority: CapabilityAuthority,
  options: ResourceServerOptions,
): <Args extends readonly unknown[]>(requirement: RouteRequirement<Args>) => RouteCheck<Args> {
  if (typeof authority?.authorize !== "function") {
    const expected = "an object with authorize(token, invocation), such as an Issuer";
    throw notA("authority", expected, authority);
  }
  assertMembers(options, ["realm"], "options");
  const { realm = "proviso" } = options;
  if (typeof realm !== "string" || !/^[\x20-\x7e]+$/.test(realm) || /["\\]/.test(realm)) {
    throw new TypeError("options.realm must be printable ASCII without quotes and backslashes");
  }
  return (requirement) => {
    checkRequirement(requirement);
    // Taken out: a requirement that is changed later changes no route.
    const { grant, operation, resourceHandles, arguments: args, invoker, in: place } = requirement;
    const grants = [grant].flat();
    checkKnown(grants, typeof operation === "string" ? operation : undefined, authority);
    const challenge = { realm, inAuthorization: place === "authorization" };
    return async (header, ...request) => {
      const presented = presentedToken(header, challenge.inAuthorization);
      if (!presented.ok) return { ok: false, refusal: unreadable(presented.message, challenge) };
      const { token } = presented;
      if (token === undefined) return { ok: false, refusal: missing(challenge) };
      try {
        const by = await invoker?.(...request);
        const named: unknown =
          typeof operation === "function" ? await operation(...request) : operation;
        const handles = await resourceHandles?.(...request);
        const values = await args?.(...request);
        const read = fromRequest(() => ({
          operation: operationFrom(named),
          ...(resourceHandles && { resourceHandles: plainHandles(handles, "resourceHandles") }),
          ...(args && { arguments: plainArguments(values, "arguments") }),
        }));
        if (typeof read === "string") return { ok: false, refusal: unreadable(read, challenge) };
        const invocation: Invocation = {
          grant: grants,
          ...read,
          invoker: by,
        };
        await authority.catchUp?.();
        const decision = authority.authorize(token, invocation);
        if (decision.allowed !== true) {
          return { ok: false, refusal: denied(decision.denials, challenge) };
        }
        const { capability } = decision;
        // Nothing of them was judged, and `absent`, `optional` and closed lists pass over nothing.
        if (args === undefined && limitsArguments(capability.authority, read.operation)) {
          return { ok: false, refusal: denied([unreadArguments(read.operation)], challenge) };
        }
        return { ok: true, capability };
      } catch (error) {
        // To Express, a thrown "route" or undefined would say that the request may go on.
        throw error instanceof Error
          ? error
          : new Error("the check threw no Error", { cause: error });
      }
    };
  };
}

/** A route that names what the authority does not have would refuse every caller, or fail. */
function checkKnown(
  grants: readonly string[],
  operation: string | undefined,
  { grants: known }: CapabilityAuthority,
): void {
  if (known === undefined) return;
  const unknown = grants.find((id) => !known.has(id));
  if (unknown !== undefined) {
    const hint = meant(unknown, [...known.keys()]);
    throw new TypeError(`requirement.grant: there is no grant "${unknown}"${hint}`);
  }
  const operations = grants.flatMap((id) => known.get(id)?.operations ?? []);
  if (operation === undefined || operations.includes(operation)) return;
  const hint = meant(operation, operations);
  throw new TypeError(`requirement.operation: no such grant has "${operation}"${hint}`);
}

/** @throws NotPlainError for a request that names no operation. */
function operationFrom(named: unknown): string {
  if (typeof named === "string" && named !== "") return named;
  throw new NotPlainError(`the operation must be a non-empty string, not ${described(named)}`);
}

function unreadArguments(operation: string): Denial {
  const message = `the token limits the arguments of ${shown(operation)}, and this route reads none`;
  return { code: "constraint_violated", rule: "arguments", message };
}

/** What a request names, or a sentence about what of it is not plain: the caller's mistake, not the server's. */
function fromRequest<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotPlainError) return error.message;
    throw error;
  }
}

/** A value, or a promise of one. */
export type Awaitable<T> = T | Promise<T>;

/**
 * What a route requires. The functions read the request as the handler does, so that what is checked is what
 * is done, and before the token is checked: let them do no work for strangers. If one throws, the request is
 * not handled.
 *
 * @typeParam Args - What the route's handler is called with, the request first.
 */
export interface RouteRequirement<Args extends readonly unknown[]> {
  /** The grant, or several, under which the route acts; a capability of another grant is refused. */
  readonly grant: string | readonly string[];
  /**
   * The operation that the route performs, or a function that reads it, such as the name of a tool. A request that
   * names none gets 400; what no grant of the route has is refused, where the authority knows its grants.
   */
  readonly operation: string | ((...args: Args) => Awaitable<string | undefined>);
  /** Every resource handle that the request names; without it the route names none. */
  readonly resourceHandles?: (...args: Args) => Awaitable<readonly string[]>;
  /**
   * All arguments of the call, JSON values by name: one that is left out here, and read by the handler, passes every
   * closed list. Without it there are none, and a capability that limits the arguments of the operation is refused.
   */
  readonly arguments?: (...args: Args) => Awaitable<{ readonly [name: string]: unknown }>;
  /**
   * The agent that the app's login has authenticated, or `undefined`. Without it, capabilities with
   * `invokers` are refused.
   */
  readonly invoker?: (...args: Args) => Awaitable<string | undefined>;
  /** Where the capability may also come as `Authorization: Bearer TOKEN`, else the app's own. */
  readonly in?: "authorization";
}

const MEMBERS = ["grant", "operation", "resourceHandles", "arguments", "invoker", "in"];
const READERS = ["resourceHandles", "arguments", "invoker"] as const;

/** @throws TypeError naming the member that is wrong. */
function checkRequirement<Args extends readonly unknown[]>(
  requirement: RouteRequirement<Args>,
): void {
  if (typeof requirement !== "object" || requirement === null) {
    throw new TypeError('a requirement must be an object such as { grant: "…", operation: "…" }');
  }
  assertMembers(requirement, MEMBERS, "requirement");
  const { grant, operation, in: place } = requirement;
  const grants: readonly unknown[] = Array.isArray(grant) ? grant : [grant];
  if (grants.length === 0 || !grants.every(isName)) {
    throw new TypeError("requirement.grant must be a grant, or an array of at least one");
  }
  if (!isName(operation) && typeof operation !== "function") {
    const expected = "a non-empty string, or a function of the request";
    throw new TypeError(`requirement.operation must be ${expected}`);
  }
  for (const name of READERS) {
    const reader: unknown = requirement[name];
    if (reader === undefined || typeof reader === "function") continue;
    throw new TypeError(`requirement.${name} must be a function of the request`);
  }
  if (place !== undefined && place !== "authorization") {
    throw new TypeError('requirement.in must be "authorization", or absent');
  }
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
