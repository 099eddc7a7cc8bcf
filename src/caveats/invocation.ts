import { assertMembers } from "./known-members.js";
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
export interface CheckedInvocation extends Omit<Invocation, "time" | "grant"> {
  /** At least one; absent if the invocation does not say. */
  readonly grants?: readonly string[];
  /** Each once. */
  readonly resourceHandles: readonly string[];
  readonly arguments: { readonly [name: string]: unknown };
  readonly time: string;
  /** The same moment in milliseconds since 1970. */
  readonly moment: number;
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
  assertMembers(invocation, KEYS, "invocation");
  // Own members only, each read once: nothing that a prototype or a getter says later can count.
  const grant = own(invocation, "grant");
  const operation = own(invocation, "operation");
  const named = own(invocation, "resourceHandles");
  const handles = named === undefined ? [] : named;
  const given = own(invocation, "arguments") ?? {};
  const invoker = own(invocation, "invoker");
  const audience = own(invocation, "audience");
  const time = own(invocation, "time");
  if (typeof operation !== "string") throw new TypeError("invocation.operation must be a string");
  if (!Array.isArray(handles)) {
    throw new TypeError("invocation.resourceHandles must be an array of strings");
  }
  const grants = grant === undefined ? undefined : grantsFrom(grant);
  const distinct: string[] = [];
  const seen = handles.length > 1 ? new Set<string>() : undefined;
  for (let i = 0; i < handles.length; i++) {
    const handle: unknown = handles[i];
    if (typeof handle !== "string") {
      throw new TypeError("invocation.resourceHandles must be an array of strings");
    }
    if (seen?.has(handle) === true) continue;
    seen?.add(handle);
    distinct.push(handle);
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError("invocation.arguments must be an object");
  }
  const args = withoutPrototype(given);
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
    ...(grants === undefined ? {} : { grants }),
    operation,
    resourceHandles: distinct,
    arguments: args,
    time: formatTime(moment),
    moment,
    ...(invoker === undefined ? {} : { invoker }),
    ...(audience === undefined ? {} : { audience }),
  };
}

function grantsFrom(grant: string | readonly string[]): readonly string[] {
  const given: readonly unknown[] = Array.isArray(grant) ? Array.from(grant) : [grant];
  const grants = given.filter((one) => typeof one === "string");
  if (grants.length !== given.length || grants.length === 0) {
    throw new TypeError("invocation.grant must be a grant, or an array of at least one");
  }
  return [...new Set(grants)];
}

/**
 * A member of a program's object.
 *
 * @throws TypeError if it is inherited: passed over, an inherited grant could let another be taken, and an inherited
 *   time none.
 */
function own<Key extends keyof Invocation>(invocation: Invocation, key: Key): Invocation[Key] {
  if (Object.prototype.propertyIsEnumerable.call(invocation, key)) return invocation[key];
  if (!(key in invocation)) return undefined as Invocation[Key];
  throw new TypeError(`invocation.${key} must be the invocation's own member`);
}

function withoutPrototype<T extends object>(value: T): T {
  return Object.assign(Object.create(null), value);
}
