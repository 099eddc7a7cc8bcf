import type { ListTasksRequest, ListTasksResponse } from "@a2a-js/sdk";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { type Asker, type TaskAccess, type TaskView, viewOf } from "./tasks/task-access.js";
import type { TaskStore } from "./tasks/task-store.js";

/** The part of a handler that reads tasks of any maker. */
export type TaskReader = Pick<A2ARequestHandler, "getTask" | "listTasks">;

/** Determines which tasks a request may see. */
export interface Visibility {
  /** Records the request as the maker of a task, unless it has one. */
  note(id: string, context: ServerCallContext): void;
  /**
   * @param ended - Whether the task has ended; its party may then read it with capabilities that cover it.
   *   Absent if nothing is read.
   */
  sees(id: string, asker: Asker, ended?: () => Promise<boolean>): Promise<boolean>;
  /** Returns a page of the tasks that a request may see. */
  list(
    params: ListTasksRequest,
    context: ServerCallContext,
    handler: TaskReader,
  ): Promise<ListTasksResponse>;
}

/** The part of `openTaskStore`'s store that decides who sees a task. */
export type ShownTasks = Pick<TaskStore, "load">;

/**
 * Visibility decided by the store, such as that of `openTaskStore`, which returns only tasks that the request
 * may see.
 */
export function shownBy(store: ShownTasks): Visibility {
  const sees: Visibility["sees"] = async (id, asker, ended) => {
    const asking = ended === undefined ? withoutCoverage(asker) : asker;
    return (await store.load(id, asking)) !== undefined;
  };
  return {
    note: () => {},
    sees,
    list: async (params, context, handler) => {
      const page = await handler.listTasks(params, context);
      for (const { id } of page.tasks) {
        if (await sees(id, context)) continue;
        throw new TypeError("access: must be the store that the handler keeps its tasks in");
      }
      return page;
    },
  };
}

/** Hides tasks that are only covered, since covering allows reading only. */
function withoutCoverage(asker: Asker): TaskView {
  const { access, tenant } = viewOf(asker);
  const { covers: _, ...others } = access;
  return { access: others, tenant };
}

/**
 * Returns whether a request may see a task made by another. With ambient authority: the same principal, through
 * the same agent. With capabilities: the same principal, with each token that it was made with, or one that
 * this was narrowed from. A token narrowed from such a token, or a sibling of it, does not show it; ambient
 * authority and capabilities do not show each other's.
 */
export function maySee(present: TaskAccess, made: TaskAccess): boolean {
  if (present.principal !== made.principal) return false;
  if (present.paths.length === 0 || made.paths.length === 0) {
    return present.paths.length === made.paths.length && present.invoker === made.invoker;
  }
  // The last id of a path distinguishes its token from those that it was narrowed from.
  const lasts = new Set(present.paths.flatMap((path) => path.slice(-1)));
  return made.paths.every((path) => path.some((id) => lasts.has(id)));
}
