// The check before a resource server's routes: a common check, with adapters for Express, Fetch and node:http.
// This file and the Fetch adapter run without Node.

import type { Decision, VerifiedCapability } from "../capability/authorize.js";
import type { Denial } from "../capability/denial.js";
import { type Invocation, plainArguments, plainHandles } from "../caveats/invocation.js";
import { limitsArguments } from "../caveats/operation-authority.js";
import { shown } from "../caveats/scalar.js";
import { described, notA } from "../checks/kinds.js";
import { assertMembers, meant } from "../checks/members.js";
import { NotPlainError } from "../checks/plain.js";
import { type HeaderReader, presentedToken } from "./presented-token.js";
import { denied, missing, type Refusal, unreadable } from "./refusal.js";

/** Checks capabilities: an `Issuer`, or any object with its method `authorize`. */
export interface CapabilityAuthority {
  authorize(token: string, invocation: Invocation): Decision;
  /** Called and awaited before each `authorize`, to bring a revocation list up to date. */
  catchUp?(): Promise<void>;
  /** The grants and their operations, if known; routes may then name no others. */
  readonly grants?: ReadonlyMap<string, { readonly operations: readonly string[] }> | undefined;
}

/** Options of all routes of a resource server. */
export interface ResourceServerOptions {
  /** The `realm` of challenges: printable ASCII without quotes and backslashes; `proviso` unless given. */
  readonly realm?: string;
}

/** The capability of an allowed request, or the answer to a refused one. */
type Checked =
  | { readonly ok: true; readonly capability: VerifiedCapability }
  | { readonly ok: false; readonly refusal: Refusal };

/** Checks one request of a route. */
export type RouteCheck<Args extends readonly unknown[]> = (
  header: HeaderReader,
  ...args: Args
) => Promise<Checked>;

/**
 * Set unless the app sets its own value: a shared cache does not know that `Proviso-Capability` determines who
 * may read an answer.
 */
export const PRIVATE = "private, no-cache";

/**
 * Returns a function that makes the check of a route. The check reads the token and the route's requirement,
 * then calls `authorize` once.
 *
 * @returns A check, which rejects if a function of the requirement, or the authority, throws.
 * @throws TypeError if an option is wrong and, for each route, if its requirement is wrong.
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
    // Copy it, so that a later change of the requirement does not change the route.
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
        // The route reads no arguments, so `absent`, `optional` and closed lists would pass whatever the
        // request has.
        if (args === undefined && limitsArguments(capability.authority, read.operation)) {
          return { ok: false, refusal: denied([unreadArguments(read.operation)], challenge) };
        }
        return { ok: true, capability };
      } catch (error) {
        // Express would continue if "route" or undefined were thrown.
        throw error instanceof Error
          ? error
          : new Error("the check threw no Error", { cause: error });
      }
    };
  };
}

/** Checks that the authority knows the route's grants and operations; otherwise every call would be refused or fail. */
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

/** @throws NotPlainError if a request names no operation. */
function operationFrom(named: unknown): string {
  if (typeof named === "string" && named !== "") return named;
  throw new NotPlainError(`the operation must be a non-empty string, not ${described(named)}`);
}

function unreadArguments(operation: string): Denial {
  const message = `the token limits the arguments of ${shown(operation)}, and this route reads none`;
  return { code: "constraint_violated", rule: "arguments", message };
}

/** Returns what a request names, or a sentence about a part that is not plain data, which is the caller's mistake. */
function fromRequest<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotPlainError) return error.message;
    throw error;
  }
}

/** A value or a promise of one. */
export type Awaitable<T> = T | Promise<T>;

/**
 * The requirement of a route. Its functions must read the request as the handler does, so that what is checked
 * is what runs. They run before the token is checked, so they must not do work that strangers may not cause. If
 * one throws, the request is not handled.
 *
 * @typeParam Args - The arguments of the route's handler, the request first.
 */
export interface RouteRequirement<Args extends readonly unknown[]> {
  /** The grant or grants of the route; a capability of another grant is refused. */
  readonly grant: string | readonly string[];
  /**
   * The operation that the route performs, or a function that reads it, for example the name of a tool. A
   * request that names none is answered with 400. If the authority knows its grants, an operation that none of
   * the route's grants has is refused.
   */
  readonly operation: string | ((...args: Args) => Awaitable<string | undefined>);
  /** Returns every resource handle that the request names. Without it, the route names none. */
  readonly resourceHandles?: (...args: Args) => Awaitable<readonly string[]>;
  /**
   * Returns all arguments of the call: JSON values by name. If one is missing here but used by the handler, a
   * closed list does not exclude it. Without this function, the route has no arguments, and a capability that
   * limits arguments of the operation is refused.
   */
  readonly arguments?: (...args: Args) => Awaitable<{ readonly [name: string]: unknown }>;
  /**
   * Returns the agent that the app's login has authenticated, or `undefined`. Without it, capabilities with
   * `invokers` are refused.
   */
  readonly invoker?: (...args: Args) => Awaitable<string | undefined>;
  /** Also reads the capability from `Authorization: Bearer TOKEN`. Otherwise that header is left to the app. */
  readonly in?: "authorization";
}

const MEMBERS = ["grant", "operation", "resourceHandles", "arguments", "invoker", "in"];
const READERS = ["resourceHandles", "arguments", "invoker"] as const;

/** @throws TypeError naming the property that is wrong. */
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
