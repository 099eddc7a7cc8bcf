import type { ListTasksRequest, ListTasksResponse } from "@a2a-js/sdk";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { type Asker, type TaskAccess, type TaskView, viewOf } from "./tasks/task-access.js";
import type { TaskStore } from "./tasks/task-store.js";

/** What reads tasks of any creator. */
export type TaskReader = Pick<A2ARequestHandler, "getTask" | "listTasks">;

/** Which tasks a request may see. */
export interface Visibility {
  /** Notes a task, as made by this request unless another has made it. */
  note(id: string, context: ServerCallContext): void;
  /**
   * @param ended - Whether the task has ended: its party may read it then with what covers it. Absent
   *   where nothing is read.
   */
  sees(id: string, asker: Asker, ended?: () => Promise<boolean>): Promise<boolean>;
  /** A page of the tasks that a request may see. */
  list(
    params: ListTasksRequest,
    context: ServerCallContext,
    handler: TaskReader,
  ): Promise<ListTasksResponse>;
}

/** A store of `openTaskStore`, as far as it is asked who sees a task. */
export type ShownTasks = Pick<TaskStore, "load">;

/**
 * Tasks are kept by a store that shows each request its own, such as that of `openTaskStore`: what it does
 * not give is not there.
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

/** Asks for no task by what covers it: that is for reading alone. */
function withoutCoverage(asker: Asker): TaskView {
  const { access, tenant } = viewOf(asker);
  const { covers: _, ...others } = access;
  return { access: others, tenant };
}

/**
 * Whether a request may see what another has made. With ambient authority: for the same principal, through
 * the same agent. With capabilities: for the same principal, and with each token that it was
 * made with, or one that this was narrowed from. What is narrowed from such a token, or is its sibling, does
 * not; nor do ambient authority and capabilities see each other's.
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
