import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { AuthorityUse, Coverage } from "../../../agent/coverage.js";

/** The authority of a request, which determines the tasks that it may see. */
export interface TaskAccess {
  /** The user on whose behalf the request is made. */
  readonly principal: string;
  /**
   * The revocation ids of each presented and verified capability, from the identifier's id to the last hop's
   * id. Empty for ambient authority.
   */
  readonly paths: readonly (readonly string[])[];
  /** The calling agent. Without it, only the paths determine which tasks are visible. */
  readonly invoker?: string;
  /**
   * Returns whether the presented capabilities cover one use of authority. If they cover every use by an ended
   * task, the party that made the task may read the task, even if the task was made with other capabilities.
   */
  readonly covers?: Coverage;
}

/** A tenant and an authority, for access to tasks without an SDK context. */
export interface TaskView {
  readonly access: TaskAccess;
  /** Empty if the request names no tenant. */
  readonly tenant: string;
}

/** The source of a request's authority: an SDK context, or a tenant and an authority. */
export type Asker = ServerCallContext | TaskView;

// Kept outside the context's state, because other code can write to that state.
const accesses = new WeakMap<ServerCallContext, TaskAccess>();
const uses = new WeakMap<ServerCallContext, readonly AuthorityUse[]>();

/**
 * Sets the authority of a request. Call it before the request reaches a task store, with exactly the authority
 * that the gate has admitted.
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

/** Records a use of authority by a request's task. Call it before the use. */
export function recordUse(context: ServerCallContext, use: AuthorityUse): void {
  uses.set(context, [...usesOf(context), use]);
}

/** Returns the uses of authority that a request's task has made so far. */
export function usesOf(context: ServerCallContext): readonly AuthorityUse[] {
  return uses.get(context) ?? [];
}

/**
 * Returns the authority of a request.
 *
 * @throws TypeError if {@link setTaskAccess} was not called; such a request sees no task.
 */
export function taskAccessOf(context: ServerCallContext): TaskAccess {
  const access = accesses.get(context);
  if (access !== undefined) return access;
  throw new TypeError("it is not known on whose authority this request is made");
}

/**
 * Returns the tenant and the authority of a request.
 *
 * @throws TypeError as {@link taskAccessOf} does.
 */
export function viewOf(asker: Asker): TaskView {
  if ("access" in asker) return asker;
  return { access: taskAccessOf(asker), tenant: asker.tenant ?? "" };
}

function isId(id: unknown): boolean {
  return typeof id === "string" && id !== "";
}
