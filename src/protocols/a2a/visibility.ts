import type { ListTasksRequest, ListTasksResponse } from "@a2a-js/sdk";
import { type A2ARequestHandler, ServerCallContext, type TaskStore } from "@a2a-js/sdk/server";
import { setTaskAccess, type TaskAccess, taskAccessOf } from "../../stores/tasks/task-access.js";

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
  sees(id: string, context: ServerCallContext, ended?: () => Promise<boolean>): Promise<boolean>;
  /** A page of the tasks that a request may see. */
  list(
    params: ListTasksRequest,
    context: ServerCallContext,
    handler: TaskReader,
  ): Promise<ListTasksResponse>;
}

/**
 * Tasks are kept by a store that shows each request its own, such as that of `openTaskStore`: what it does
 * not give is not there.
 */
export function shownBy(store: Pick<TaskStore, "load">): Visibility {
  const sees: Visibility["sees"] = async (id, context, ended) => {
    const asking = ended === undefined ? withoutCoverage(context) : context;
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

/** A context that opens no task by what covers it: that is for reading alone. */
function withoutCoverage(context: ServerCallContext): ServerCallContext {
  const { user, tenant, requestedVersion, state } = context;
  const plain = new ServerCallContext({
    ...{ requestedVersion, state },
    ...(user === undefined ? {} : { user }),
    ...(tenant === undefined ? {} : { tenant }),
  });
  const { covers: _, ...access } = taskAccessOf(context);
  setTaskAccess(plain, access);
  return plain;
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
