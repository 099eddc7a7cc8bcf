import type { ListTasksRequest, ListTasksResponse, Task } from "@a2a-js/sdk";
import { RequestMalformedError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { ServerCallContext, TaskStore } from "@a2a-js/sdk/server";
import type { AuthorityUse } from "../../agent/coverage.js";
import { type TaskAccess, taskAccessOf, usesOf } from "../../stores/tasks/task-access.js";

/** Asks a handler for a page of the tasks of all callers. */
type List = (params: ListTasksRequest) => Promise<ListTasksResponse>;

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
    list: List,
  ): Promise<ListTasksResponse>;
}

/**
 * Tasks are kept by a store that shows each request its own, such as that of `openTaskStore`: what it does
 * not give is not there.
 */
export function shownBy(store: Pick<TaskStore, "load">): Visibility {
  const sees = async (id: string, context: ServerCallContext): Promise<boolean> =>
    (await store.load(id, context)) !== undefined;
  return {
    note: () => {},
    sees,
    list: async (params, context, list) => {
      const page = await list(params);
      for (const { id } of page.tasks) {
        if (await sees(id, context)) continue;
        throw new TypeError("access: must be the store that the handler keeps its tasks in");
      }
      return page;
    },
  };
}

interface Made {
  readonly access: TaskAccess;
  uses: readonly AuthorityUse[];
}

/** Tasks of one principal in one tenant that are remembered; of more, the oldest are forgotten. */
const MOST_TASKS = 10_000;
/** Owners, a principal in a tenant each, whose tasks are remembered. */
const MOST_OWNERS = 10_000;
const PAGE_SIZE = 50;
const MAX_PAGE = 100;
/** Of the handler's tasks, which it may go through anew for each page. */
const MOST_PAGES = 100;

/** Remembers in memory who made which task. What is not known, as after a restart, is not seen. */
export class RememberedTasks implements Visibility {
  /** By tenant and principal, then by task. */
  readonly #made = new Map<string, Map<string, Made>>();

  note(id: string, context: ServerCallContext): void {
    const key = ownerOf(context);
    const tasks = this.#made.get(key) ?? new Map<string, Made>();
    this.#made.set(key, tasks);
    const { principal, invoker, paths } = taskAccessOf(context);
    const made = tasks.get(id) ?? {
      access: { principal, paths, ...(invoker === undefined ? {} : { invoker }) },
      uses: [],
    };
    made.uses = [...new Set([...made.uses, ...usesOf(context)])];
    tasks.set(id, made);
    const [oldest] = tasks.keys();
    if (tasks.size > MOST_TASKS && oldest !== undefined) tasks.delete(oldest);
    const [first] = this.#made.keys();
    if (this.#made.size > MOST_OWNERS && first !== undefined) this.#made.delete(first);
  }

  async sees(
    id: string,
    context: ServerCallContext,
    ended?: () => Promise<boolean>,
  ): Promise<boolean> {
    const made = this.#made.get(ownerOf(context))?.get(id);
    if (made === undefined) return false;
    const access = taskAccessOf(context);
    if (maySee(access, made.access)) return true;
    const { invoker, covers, paths } = access;
    const isParty = invoker === made.access.invoker && paths.length > 0 && made.uses.length > 0;
    if (ended === undefined || covers === undefined || !isParty) return false;
    for (const use of made.uses) if (!(await covers(use))) return false;
    return ended();
  }

  /** Goes through all pages: the total counts what is seen, and a page is as full as it can be. */
  async list(
    params: ListTasksRequest,
    context: ServerCallContext,
    list: List,
  ): Promise<ListTasksResponse> {
    const { pageSize = PAGE_SIZE, pageToken } = params;
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE) {
      throw new RequestMalformedError(`pageSize must be between 1 and ${MAX_PAGE}`);
    }
    let after = pageToken === "" ? undefined : Buffer.from(pageToken, "base64url").toString();
    const tasks: Task[] = [];
    let totalSize = 0;
    let more = false;
    let from = "";
    for (let page = 0; page < MOST_PAGES; page++) {
      const given = await list({ ...params, pageSize: MAX_PAGE, pageToken: from });
      for (const task of given.tasks) {
        if (!(await this.sees(task.id, context))) continue;
        totalSize++;
        if (after !== undefined) after = after === task.id ? undefined : after;
        else if (tasks.length < pageSize) tasks.push(task);
        else more = true;
      }
      from = given.nextPageToken;
      if (from === "") break;
      if (page === MOST_PAGES - 1) {
        throw new UnsupportedOperationError("there are too many tasks to list; name one by its id");
      }
      // A handler that answers at once would keep all others waiting.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (after !== undefined) {
      throw new RequestMalformedError("pageToken must be the nextPageToken of an earlier page");
    }
    const last = more ? (tasks.at(-1)?.id ?? "") : "";
    return { tasks, pageSize, totalSize, nextPageToken: Buffer.from(last).toString("base64url") };
  }
}

function ownerOf(context: ServerCallContext): string {
  return JSON.stringify([context.tenant ?? "", taskAccessOf(context).principal]);
}

/**
 * Whether a request may see what another has made. With ambient authority: for the same principal, through
 * the same agent. With capabilities: for the same principal, and with each token that it was
 * made with, or one that this was narrowed from. What is narrowed from such a token, or is its sibling, does
 * not; nor do ambient authority and capabilities see each other's.
 */
function maySee(present: TaskAccess, made: TaskAccess): boolean {
  if (present.principal !== made.principal) return false;
  if (present.paths.length === 0 || made.paths.length === 0) {
    return present.paths.length === made.paths.length && present.invoker === made.invoker;
  }
  // The last id of a path tells its token from those that it was narrowed from.
  const lasts = new Set(present.paths.flatMap((path) => path.slice(-1)));
  return made.paths.every((path) => path.some((id) => lasts.has(id)));
}
