import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { AuthorityUse, Coverage } from "../../../agent/coverage.js";

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

/** Which tasks are asked for, and by whom, where a request has no context of the SDK's yet. */
export interface TaskView {
  readonly access: TaskAccess;
  /** Empty without one. */
  readonly tenant: string;
}

/** Who asks a store for tasks. */
export type Asker = ServerCallContext | TaskView;

// By context, and not in its state: what else may put something there does not count.
const accesses = new WeakMap<ServerCallContext, TaskAccess>();
const uses = new WeakMap<ServerCallContext, readonly AuthorityUse[]>();

/**
 * Says on whose authority a request is made. To be called before the request reaches a task store,
 * with what the gate has let through and nothing else.
 *
 * @throws TypeError if the principal is empty, or a path has no ids.
 */
export function setTaskAccess(context: ServerCallContext, access: TaskAccess): void {
  accesses.set(context, checkedAccess(access));
}

/** @throws TypeError if the principal is empty, or a path has no ids. */
function checkedAccess({ principal, paths, invoker, covers }: TaskAccess): TaskAccess {
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
  return Object.freeze({
    principal,
    paths: Object.freeze(copied),
    invoker,
    covers,
  });
}

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
 * @throws TypeError if {@link setTaskAccess} has not said so: such a request sees no task.
 */
export function taskAccessOf(context: ServerCallContext): TaskAccess {
  const access = accesses.get(context);
  if (access !== undefined) return access;
  throw new TypeError("it is not known on whose authority this request is made");
}

/** Which tasks someone asks for. @throws TypeError as {@link taskAccessOf} does. */
export function viewOf(asker: Asker): TaskView {
  if ("access" in asker) return asker;
  return { access: taskAccessOf(asker), tenant: asker.tenant ?? "" };
}

function isId(id: unknown): boolean {
  return typeof id === "string" && id !== "";
}
