import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { AuthorityUse, Coverage } from "../../agent/coverage.js";

/** On whose authority a request is made: what decides which tasks it may see. */
export interface TaskAccess {
  /** The user on whose behalf. */
  readonly principal: string;
  /**
   * Of each capability that was presented, and has passed its check, the revocation ids from the
   * identifier's to the last hop's; empty if authority is ambient.
   */
  readonly paths: readonly (readonly string[])[];
  /** The agent that makes the request; without it, a task is read by its paths alone. */
  readonly invoker?: string;
  /**
   * Whether what is presented now covers what a task was done with: the party that made the task reads
   * it then once it has ended, whatever capabilities it was made with.
   */
  readonly covers?: Coverage;
}

/** The key in {@link ServerCallContext.state} under which the access of a request stands. */
export const TASK_ACCESS_KEY = "proviso/task-access";

// Only what was checked here counts, whatever else may be put into the state under that key.
const checked = new WeakSet<object>();

/**
 * Says on whose authority a request is made. To be called before the request reaches a task store,
 * with what the gate has let through and nothing else.
 *
 * @throws TypeError if the principal is empty, or a path has no ids.
 */
export function setTaskAccess(context: ServerCallContext, access: TaskAccess): void {
  const { principal, paths, invoker, covers } = access;
  if (typeof principal !== "string" || principal === "") {
    throw new TypeError("principal must be a non-empty string");
  }
  if (!Array.isArray(paths)) throw new TypeError("paths must be a list, empty if there are none");
  const copied = paths.map((path: readonly string[]) => {
    if (!Array.isArray(path) || path.length === 0 || !path.every(isId)) {
      throw new TypeError("a path must be a list of at least one revocation id");
    }
    return Object.freeze([...path]);
  });
  const value = Object.freeze({
    ...{ principal, paths: Object.freeze(copied) },
    ...(invoker === undefined ? {} : { invoker }),
    ...(covers === undefined ? {} : { covers }),
  });
  checked.add(value);
  context.state.set(TASK_ACCESS_KEY, value);
}

const uses = new WeakMap<ServerCallContext, AuthorityUse[]>();

/** Records what a request's task is done with. To be called before it is done. */
export function recordUse(context: ServerCallContext, use: AuthorityUse): void {
  uses.set(context, [...usesOf(context), use]);
}

/** What a request's task was done with so far. */
export function usesOf(context: ServerCallContext): readonly AuthorityUse[] {
  return uses.get(context) ?? [];
}

/**
 * On whose authority a request is made.
 *
 * @throws TypeError if that has not been said by {@link setTaskAccess}: nobody sees any task then.
 */
export function taskAccessOf(context: ServerCallContext): TaskAccess {
  const value = context.state.get(TASK_ACCESS_KEY);
  if (isChecked(value)) return value;
  throw new TypeError("it is not known on whose authority this request is made");
}

/**
 * Whether a request may see what was made with `creator`'s access: for the same principal, and with
 * each of the creator's tokens, or one that it was narrowed from. What is narrowed from the creator's
 * token, or is its sibling, does not; nor do ambient authority and capabilities see each other's.
 */
export function mayAccess(present: TaskAccess, creator: TaskAccess): boolean {
  if (present.principal !== creator.principal) return false;
  if (present.paths.length === 0 || creator.paths.length === 0) {
    return present.paths.length === creator.paths.length;
  }
  const last = lastsOf(present);
  return creator.paths.every((path) => path.some((id) => last.has(id)));
}

/** Of each path, the id that tells its token from those it was narrowed from. */
export function lastsOf({ paths }: TaskAccess): ReadonlySet<string> {
  return new Set(paths.flatMap((path) => path.slice(-1)));
}

function isId(id: unknown): boolean {
  return typeof id === "string" && id !== "";
}

function isChecked(value: unknown): value is TaskAccess {
  return typeof value === "object" && value !== null && checked.has(value);
}
