import { assertMembers } from "../checks/members.js";

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
  /** The operation that the route performs. */
  readonly operation: string;
  /** Every resource handle that the request names; without it the route names none. */
  readonly resourceHandles?: (...args: Args) => Awaitable<readonly string[]>;
  /** The arguments that constraints may limit: JSON values by name; without it there are none. */
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
export function checkRequirement<Args extends readonly unknown[]>(
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
  if (!isName(operation)) {
    throw new TypeError("requirement.operation must be a non-empty string");
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
