import type { ListTasksRequest, ListTasksResponse } from "@a2a-js/sdk";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { type Asker, type TaskAccess, type TaskView, viewOf } from "./tasks/task-access.js";
import type { TaskStore } from "./tasks/task-store.js";

/** The methods of a handler that read tasks, whoever made the tasks. */
export type TaskReader = Pick<A2ARequestHandler, "getTask" | "listTasks">;

/** Determines which tasks a request may see. */
export interface Visibility {
  /**
   * Records the request as the maker of a task, unless the task already has a maker. Adds the request's uses of
   * authority to those of the task.
   */
  note(id: string, context: ServerCallContext): void;
  /**
   * Returns whether a request may see a task.
   *
   * @param ended - Returns whether the task has ended. The party of an ended task may read it with capabilities
   *   that cover its uses of authority. Omitted for calls that do not read the task.
   */
  sees(id: string, asker: Asker, ended?: () => Promise<boolean>): Promise<boolean>;
  /** Returns a page of the tasks that a request may see. */
  list(
    params: ListTasksRequest,
    context: ServerCallContext,
    handler: TaskReader,
  ): Promise<ListTasksResponse>;
}

/** The part of a task store that decides who may see a task. */
export type ShownTasks = Pick<TaskStore, "load">;

/**
 * Returns the visibility of a store that returns only tasks which the request may see, such as the store of
 * `openTaskStore`.
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

/** Returns a view without coverage, since coverage only allows reading. */
function withoutCoverage(asker: Asker): TaskView {
  const { access, tenant } = viewOf(asker);
  const { covers: _, ...others } = access;
  return { access: others, tenant };
}

/**
 * Returns whether a request may see a task that another request made. The principal must be the same. With
 * ambient authority, the agent must be the same too. With capabilities, the request must present, for each
 * token of the maker, that token or a token from which it was narrowed. A token narrowed from the maker's token
 * is not enough, and neither is another token narrowed from the same parent. Neither kind of authority shows
 * tasks made with the other kind.
 */
export function maySee(present: TaskAccess, made: TaskAccess): boolean {
  if (present.principal !== made.principal) return false;
  if (present.paths.length === 0 || made.paths.length === 0) {
    return present.paths.length === made.paths.length && present.invoker === made.invoker;
  }
  // The last id of a path distinguishes a token from the tokens from which it was narrowed.
  const lasts = new Set(present.paths.flatMap((path) => path.slice(-1)));
  return made.paths.every((path) => path.some((id) => lasts.has(id)));
}
