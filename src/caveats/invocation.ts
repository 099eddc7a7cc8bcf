import { assertMembers } from "../checks/members.js";
import { formatTime } from "./time.js";

/** What is being asked of a capability. */
export interface Invocation {
  /**
   * The grant, or several, under which the service acts: a token of any other grant is refused. May
   * be left out only where the issuer knows its grants and exactly one has the operation; a service
   * that takes the operation from the network names it.
   */
  readonly grant?: string | readonly string[] | undefined;
  readonly operation: string;
  /** Every resource handle that the call names, wherever in its arguments it stands. */
  readonly resourceHandles?: readonly string[] | undefined;
  /** The call's arguments: JSON values by name. */
  readonly arguments?: { readonly [name: string]: unknown } | undefined;
  /** The agent that makes the call, as authenticated by other means. */
  readonly invoker?: string | undefined;
  /** The service that checks, under the name it goes by in `audience`. */
  readonly audience?: string | undefined;
  /** The moment to judge by; the checker's clock if absent. */
  readonly time?: Date | undefined;
}

/** An invocation whose shape has been checked, with the moment in whole seconds as text. */
export interface CheckedInvocation {
  /** At least one; `undefined` if the invocation does not say. */
  readonly grants: readonly string[] | undefined;
  readonly operation: string;
  /** Each once. */
  readonly resourceHandles: readonly string[];
  readonly arguments: { readonly [name: string]: unknown };
  readonly time: string;
  /** The same moment in milliseconds since 1970. */
  readonly moment: number;
  readonly invoker: string | undefined;
  readonly audience: string | undefined;
}

const KEYS = ["grant", "operation", "resourceHandles", "arguments", "invoker", "audience", "time"];

/**
 * Checks the shape of an invocation that a program built.
 *
 * @throws TypeError naming the member that is wrong.
 */
export function checkInvocation(invocation: Invocation, now: () => number): CheckedInvocation {
  if (typeof invocation !== "object" || invocation === null) {
    throw new TypeError("an invocation must be an object");
  }
  // Own members only, each read once: nothing that a prototype or a getter says later can count.
  const own = { ...invocation };
  assertMembers(own, KEYS, "invocation");
  for (const key of KEYS) {
    if (Object.hasOwn(own, key) || !(key in invocation || key in own)) continue;
    throw new TypeError(`invocation.${key} must be the invocation's own member`);
  }
  const { grant, operation, resourceHandles, invoker, audience, time } = own;
  const given = own.arguments ?? {};
  if (typeof operation !== "string") throw new TypeError("invocation.operation must be a string");
  const handles = resourceHandles === undefined ? [] : distinctTexts(resourceHandles);
  if (typeof given !== "object" || Array.isArray(given)) {
    throw new TypeError("invocation.arguments must be an object");
  }
  if (invoker !== undefined && typeof invoker !== "string") {
    throw new TypeError("invocation.invoker must be a string");
  }
  if (audience !== undefined && typeof audience !== "string") {
    throw new TypeError("invocation.audience must be a string");
  }
  if (time !== undefined && (!(time instanceof Date) || Number.isNaN(time.getTime()))) {
    throw new TypeError("invocation.time must be a valid Date");
  }
  const moment = time === undefined ? now() : Date.prototype.getTime.call(time);
  return {
    grants: grant === undefined ? undefined : grantsFrom(grant),
    operation,
    resourceHandles: handles,
    // A copy, which is asked for own members only.
    arguments: { ...given },
    time: formatTime(moment),
    moment,
    invoker,
    audience,
  };
}

function distinctTexts(given: readonly string[]): readonly string[] {
  if (!Array.isArray(given)) {
    throw new TypeError("invocation.resourceHandles must be an array of strings");
  }
  // By index: an iterator of the caller's could hide some.
  const texts: unknown[] = given.length === 1 ? [given[0]] : [];
  for (let at = texts.length; at < given.length; at++) texts.push(given[at]);
  if (!texts.every((text) => typeof text === "string")) {
    throw new TypeError("invocation.resourceHandles must be an array of strings");
  }
  return texts.length < 2 ? texts : [...new Set(texts)];
}

function grantsFrom(grant: string | readonly string[]): readonly string[] {
  if (typeof grant === "string") return [grant];
  const given: readonly unknown[] = Array.isArray(grant) ? Array.from(grant) : [grant];
  const grants = given.filter((one) => typeof one === "string");
  if (grants.length !== given.length || grants.length === 0) {
    throw new TypeError("invocation.grant must be a grant, or an array of at least one");
  }
  return [...new Set(grants)];
}
