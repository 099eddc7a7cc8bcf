import { isObject } from "../bytes/json.js";
import { described } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import { NotPlainError, plainCopy } from "../checks/plain.js";
import { copyOfDate, formatTime } from "./time.js";

/** The call that a capability has to allow. */
export interface Invocation {
  /**
   * The grant or grants under which the service acts; a token of any other grant is refused. The grant may be left
   * out only if the issuer knows its grants and exactly one of them has the operation. A service that takes the
   * operation from the network must name the grant.
   */
  readonly grant?: string | readonly string[] | undefined;
  readonly operation: string;
  /** Every resource handle in the call's arguments, at any depth. */
  readonly resourceHandles?: readonly string[] | undefined;
  /** The call's arguments: JSON values by name. */
  readonly arguments?: { readonly [name: string]: unknown } | undefined;
  /** The calling agent, as authenticated by other means. */
  readonly invoker?: string | undefined;
  /** The name of the service that checks the capability, as hops name it in `audience`. */
  readonly audience?: string | undefined;
  /** The time of the call; by default, the time of the checker's clock. */
  readonly time?: Date | undefined;
}

/** An invocation whose shape has been checked, with its time in whole seconds as a string. */
export interface CheckedInvocation {
  /** At least one grant; `undefined` if the invocation names none. */
  readonly grants: readonly string[] | undefined;
  readonly operation: string;
  /** The handles of the call, each once. */
  readonly resourceHandles: readonly string[];
  readonly arguments: { readonly [name: string]: unknown };
  readonly time: string;
  /** The time of the call in milliseconds since 1970, not rounded. */
  readonly moment: number;
  readonly invoker: string | undefined;
  readonly audience: string | undefined;
}

const KEYS = ["grant", "operation", "resourceHandles", "arguments", "invoker", "audience", "time"];

/**
 * Checks the shape of an invocation that a program built.
 *
 * @throws TypeError that names the property that is wrong.
 */
export function checkInvocation(invocation: Invocation, now: () => number): CheckedInvocation {
  const own = knownMembers(invocation, KEYS, "invocation");
  for (const key of KEYS) {
    // Other code has set this property on Object.prototype.
    if (Object.hasOwn(own, key) || !(key in own)) continue;
    throw new TypeError(`invocation.${key} must be the invocation's own property`);
  }
  const { grant, operation, resourceHandles, invoker, audience, time } = own;
  if (typeof operation !== "string") throw new TypeError("invocation.operation must be a string");
  if (invoker !== undefined && typeof invoker !== "string") {
    throw new TypeError("invocation.invoker must be a string");
  }
  if (audience !== undefined && typeof audience !== "string") {
    throw new TypeError("invocation.audience must be a string");
  }
  const date = copyOfDate(time);
  if (time !== undefined && (date === undefined || Number.isNaN(date.getTime()))) {
    throw new TypeError("invocation.time must be a valid Date");
  }
  const moment = date === undefined ? now() : date.getTime();
  return {
    grants: grant === undefined ? undefined : grantsFrom(grant),
    operation,
    resourceHandles:
      resourceHandles === undefined
        ? []
        : plainHandles(resourceHandles, "invocation.resourceHandles"),
    arguments:
      own.arguments === undefined ? {} : plainArguments(own.arguments, "invocation.arguments"),
    time: formatTime(moment),
    moment,
    invoker,
    audience,
  };
}

/**
 * Copies handles without duplicates.
 *
 * @param where - The name of the array in messages.
 * @throws NotPlainError unless `given` is a plain array of strings.
 */
export function plainHandles(given: unknown, where: string): readonly string[] {
  if (!Array.isArray(given)) {
    throw new NotPlainError(`${where} must be an array of strings, not ${described(given)}`);
  }
  const handles = plainCopy(given, where).map((one: unknown, at) => {
    if (typeof one === "string") return one;
    throw new NotPlainError(`${where}[${at}] must be a string, not ${described(one)}`);
  });
  return handles.length < 2 ? handles : [...new Set(handles)];
}

/**
 * Copies a call's arguments, which must be JSON. Properties that are `undefined` are left out, as by
 * `JSON.stringify`.
 *
 * @param where - The name of the arguments in messages.
 * @throws NotPlainError that names the value that is not plain, such as `invocation.arguments.amount`.
 */
export function plainArguments(
  given: unknown,
  where: string,
): { readonly [name: string]: unknown } {
  if (isObject(given)) return plainCopy(given, where, "arguments");
  throw new NotPlainError(`${where} must be a plain object, not ${described(given)}`);
}

function grantsFrom(grant: unknown): readonly string[] {
  if (typeof grant === "string") return [grant];
  const given: readonly unknown[] = Array.isArray(grant)
    ? plainCopy(grant, "invocation.grant")
    : [];
  const grants = given.filter((one) => typeof one === "string");
  if (grants.length !== given.length || grants.length === 0) {
    throw new TypeError("invocation.grant must be a grant, or an array of at least one");
  }
  return [...new Set(grants)];
}
