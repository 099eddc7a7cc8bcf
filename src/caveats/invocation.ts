import { formatTime } from "./time.js";

/** What is being asked of a capability. */
export interface Invocation {
  readonly operation: string;
  /** Every resource handle that the call names, wherever in its arguments it stands. */
  readonly resourceHandles?: readonly string[];
  /** The call's arguments: JSON values by name. */
  readonly arguments?: { readonly [name: string]: unknown };
  /** The agent that makes the call, as authenticated by other means. */
  readonly invoker?: string;
  /** The service that checks, under the name it goes by in `audience`. */
  readonly audience?: string;
  /** The moment to judge by; the checker's clock if absent. */
  readonly time?: Date;
}

/** An invocation whose shape has been checked, with the moment in whole seconds as text. */
export interface CheckedInvocation extends Omit<Invocation, "time"> {
  /** Each once. */
  readonly resourceHandles: readonly string[];
  readonly arguments: { readonly [name: string]: unknown };
  readonly time: string;
}

const KEYS = ["operation", "resourceHandles", "arguments", "invoker", "audience", "time"];

/**
 * Checks the shape of an invocation that a program built.
 *
 * @throws TypeError naming the member that is wrong.
 */
export function checkInvocation(invocation: Invocation, now: () => number): CheckedInvocation {
  if (typeof invocation !== "object" || invocation === null) {
    throw new TypeError("an invocation must be an object");
  }
  for (const key of Object.keys(invocation)) {
    if (!KEYS.includes(key)) {
      throw new TypeError(
        `unknown member "${key}" in an invocation; it may have ${KEYS.join(", ")}`,
      );
    }
  }
  // Own members only, each read once: nothing that a prototype or a getter says later can count.
  const own: Partial<Invocation> = withoutPrototype(invocation);
  const { operation, invoker, audience, time, resourceHandles: handles = [] } = own;
  const given = own.arguments ?? {};
  if (typeof operation !== "string") throw new TypeError("invocation.operation must be a string");
  if (!Array.isArray(handles)) {
    throw new TypeError("invocation.resourceHandles must be an array of strings");
  }
  const distinct = new Set<string>();
  for (let i = 0; i < handles.length; i++) {
    const handle: unknown = handles[i];
    if (typeof handle !== "string") {
      throw new TypeError("invocation.resourceHandles must be an array of strings");
    }
    distinct.add(handle);
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
  return {
    operation,
    resourceHandles: [...distinct],
    arguments: args,
    time: formatTime(time === undefined ? now() : Date.prototype.getTime.call(time)),
    ...(invoker === undefined ? {} : { invoker }),
    ...(audience === undefined ? {} : { audience }),
  };
}

function withoutPrototype<T extends object>(value: T): T {
  return Object.assign(Object.create(null), value);
}
