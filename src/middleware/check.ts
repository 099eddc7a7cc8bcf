// Checks a request before a resource server's route runs. Adapters for Express, Fetch and node:http use this
// check. This file and the Fetch adapter also run without Node.

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

/** An object that checks capabilities: an `Issuer`, or any object with the same method `authorize`. */
export interface CapabilityAuthority {
  authorize(token: string, invocation: Invocation): Decision;
  /** Brings a revocation list up to date. It is called and awaited before each `authorize`. */
  catchUp?(): Promise<void>;
  /**
   * The known grants with their operations. If this property is present, routes may name no other grants or
   * operations.
   */
  readonly grants?: ReadonlyMap<string, { readonly operations: readonly string[] }> | undefined;
}

/** Options of all routes of a resource server. */
export interface ResourceServerOptions {
  /** The `realm` of challenges, in printable ASCII without quotes and backslashes; `proviso` by default. */
  readonly realm?: string;
}

/** The verified capability of an allowed request, or the answer to a refused request. */
type Checked =
  | { readonly ok: true; readonly capability: VerifiedCapability }
  | { readonly ok: false; readonly refusal: Refusal };

/** Checks one request to a route. */
export type RouteCheck<Args extends readonly unknown[]> = (
  header: HeaderReader,
  ...args: Args
) => Promise<Checked>;

/**
 * The `Cache-Control` of an answer for which the app sets none. Without it, a shared cache would not know that
 * `Proviso-Capability` determines who may read the answer.
 */
export const PRIVATE = "private, no-cache";

/**
 * Returns a function that makes the check of a route. The check reads the token and the values that the route
 * requires, then calls `authorize` once.
 *
 * @returns The function. A check's promise is rejected if a function of the requirement throws, or if the
 *   authority does.
 * @throws TypeError if an option is wrong. The returned function throws a TypeError if a requirement is wrong.
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
    // Copied, so that a later change of the object does not change the route.
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
          const { denials } = decision;
          // A client cannot change arguments that the route does not read.
          const shown = args === undefined ? withoutRemedies(denials) : denials;
          return { ok: false, refusal: denied(shown, challenge) };
        }
        const { capability } = decision;
        // The route reads no arguments. The limits `absent` and `optional` and closed lists would therefore
        // pass, whatever arguments the request has.
        if (args === undefined && limitsArguments(capability.authority, read.operation)) {
          return { ok: false, refusal: denied([unreadArguments(read.operation)], challenge) };
        }
        return { ok: true, capability };
      } catch (error) {
        // Express would run the next handler if the value "route" or undefined were thrown.
        throw error instanceof Error
          ? error
          : new Error("the check threw no Error", { cause: error });
      }
    };
  };
}

/**
 * Checks that the authority knows the grants and the operation of a route. Otherwise the route could never
 * allow a request.
 */
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

/** @throws NotPlainError if `named` is not a non-empty string. */
function operationFrom(named: unknown): string {
  if (typeof named === "string" && named !== "") return named;
  throw new NotPlainError(`the operation must be a non-empty string, not ${described(named)}`);
}

function withoutRemedies(denials: readonly [Denial, ...Denial[]]): readonly [Denial, ...Denial[]] {
  const [first, ...more] = denials.map(({ remedy: _, ...denial }): Denial => denial);
  return first === undefined ? denials : [first, ...more];
}

function unreadArguments(operation: string): Denial {
  const message = `the token limits the arguments of ${shown(operation)}, and this route reads none`;
  return { code: "constraint_violated", rule: "arguments", message };
}

/**
 * Returns the values that were read from a request. If one of them is not plain data, returns a sentence about
 * the client's mistake instead.
 */
function fromRequest<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotPlainError) return error.message;
    throw error;
  }
}

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/**
 * The requirement of a route. Its functions must read the request in the same way as the handler, so that the check
 * covers the call that is made. They run before the token is checked, so any client can make them run. If one of them
 * throws, the request is not handled.
 *
 * @typeParam Args - The arguments of the route's handler, beginning with the request.
 */
export interface RouteRequirement<Args extends readonly unknown[]> {
  /** The grant or grants of the route. A capability of any other grant is refused. */
  readonly grant: string | readonly string[];
  /**
   * The operation that the route performs, or a function that reads its name from the request, for example the
   * name of a tool. If the function returns no name, the answer is 400. If the authority lists its grants, an
   * operation is refused unless one of the route's grants has it.
   */
  readonly operation: string | ((...args: Args) => Awaitable<string | undefined>);
  /** Returns all resource handles that the request names. Without this function, the route names no resources. */
  readonly resourceHandles?: (...args: Args) => Awaitable<readonly string[]>;
  /**
   * Returns all arguments of the call, as JSON values by name. It must include every argument that the handler
   * uses: a closed list cannot exclude an argument that is not returned. Without this function, the route has
   * no arguments. A capability that limits arguments of the operation is then refused.
   */
  readonly arguments?: (...args: Args) => Awaitable<{ readonly [name: string]: unknown }>;
  /**
   * Returns the agent that the app's own login has authenticated, or `undefined`. Without this function,
   * capabilities with `invokers` are refused.
   */
  readonly invoker?: (...args: Args) => Awaitable<string | undefined>;
  /**
   * With `authorization`, the route also reads a capability from `Authorization: Bearer TOKEN`. By default, the
   * app can use that header for other purposes.
   */
  readonly in?: "authorization";
}

const MEMBERS = ["grant", "operation", "resourceHandles", "arguments", "invoker", "in"];
const READERS = ["resourceHandles", "arguments", "invoker"] as const;

/** @throws TypeError that names the wrong property. */
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
