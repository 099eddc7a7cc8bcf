import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { AuthorityUse } from "../../agent/coverage.js";
import { type Asker, type TaskAccess, usesOf, viewOf } from "./tasks/task-access.js";
import { timeOf } from "./tasks/task-rows.js";
import { maySee, type TaskReader, type Visibility } from "./visibility.js";

interface Made {
  readonly id: string;
  readonly tenant: string;
  readonly access: TaskAccess;
  uses: readonly AuthorityUse[];
}

/**
 * Maximum number of remembered tasks of all principals together. Beyond this number, the oldest task of the
 * principal with the most tasks is forgotten, so that no principal displaces the tasks of one that has fewer.
 */
const MOST_TASKS = 100_000;
/**
 * Maximum number of remembered tasks of one principal. The number includes the tasks of all tenants, since
 * requests may name any tenant.
 */
const MOST_OF_ONE = 10_000;

/**
 * Remembers in memory who made each task. A task that is not remembered, such as one from before a restart, is
 * invisible.
 */
export class RememberedTasks implements Visibility {
  /** The tasks of each principal by tenant and task id, least recently noted first. */
  readonly #made = new Map<string, Map<string, Made>>();
  #count = 0;

  note(id: string, context: ServerCallContext): void {
    const { access, tenant } = viewOf(context);
    const { principal, invoker, paths } = access;
    const key = keyOf(id, tenant);
    const own = this.#made.get(principal) ?? new Map<string, Made>();
    const made = own.get(key) ?? {
      id,
      tenant,
      uses: [],
      access: invoker === undefined ? { principal, paths } : { principal, paths, invoker },
    };
    const used = usesOf(context);
    made.uses = made.uses.length === 0 ? used : merged([...made.uses, ...used]);
    if (!own.delete(key)) this.#count++;
    own.set(key, made);
    this.#made.set(principal, own);
    if (own.size > MOST_OF_ONE) this.#forgetOldestOf(principal);
    if (this.#count > MOST_TASKS) this.#forgetOldestOf(this.#principalWithMost());
  }

  async sees(id: string, asker: Asker, ended?: () => Promise<boolean>): Promise<boolean> {
    const { access, tenant } = viewOf(asker);
    const made = this.#made.get(access.principal)?.get(keyOf(id, tenant));
    if (made === undefined) return false;
    if (maySee(access, made.access)) return true;
    const { invoker, covers, paths } = access;
    const isParty = invoker === made.access.invoker && paths.length > 0 && made.uses.length > 0;
    if (ended === undefined || covers === undefined || !isParty) return false;
    for (const use of made.uses) if (!(await covers(use))) return false;
    return ended();
  }

  /** Reads only tasks that are remembered for the caller, because the handler may have many more. */
  list(
    params: ListTasksRequest,
    context: ServerCallContext,
    handler: TaskReader,
  ): Promise<ListTasksResponse> {
    const { access, tenant } = viewOf(context);
    const ids: string[] = [];
    for (const made of this.#made.get(access.principal)?.values() ?? []) {
      if (made.tenant === tenant && maySee(access, made.access)) ids.push(made.id);
    }
    return listedOf(ids, params, (id, historyLength) =>
      handler.getTask({ tenant: params.tenant, id, historyLength }, context),
    );
  }

  #principalWithMost(): string {
    let [principal, most] = ["", 0];
    for (const [one, { size }] of this.#made) {
      if (size > most) [principal, most] = [one, size];
    }
    return principal;
  }

  #forgetOldestOf(principal: string): void {
    const own = this.#made.get(principal);
    const [oldest] = own?.keys() ?? [];
    if (own === undefined || oldest === undefined) return;
    own.delete(oldest);
    this.#count--;
    if (own.size === 0) this.#made.delete(principal);
  }
}

function keyOf(id: string, tenant: string): string {
  return `${tenant.length}:${tenant}${id}`;
}

/**
 * Merges uses with the same grant and operation into one use with all their resources. Capabilities that cover
 * the merged use cover each of the original uses.
 */
function merged(uses: readonly AuthorityUse[]): readonly AuthorityUse[] {
  const known = new Map<string, AuthorityUse>();
  for (const use of uses) {
    const key = JSON.stringify([use.grant, use.operation]);
    const resources = new Set([...(known.get(key)?.resources ?? []), ...use.resources]);
    known.set(key, { ...use, resources: [...resources] });
  }
  return [...known.values()];
}

const PAGE_SIZE = 50;
const MAX_PAGE = 100;
/** Number of tasks to read before other work gets a turn. */
const AT_ONCE = 50;

/**
 * Reads one task.
 *
 * @param historyLength - Number of messages; all unless given.
 */
type Read = (id: string, historyLength: number | undefined) => Promise<Task>;

/**
 * Returns a page of the given tasks that match the request's filters, latest status first. Tasks that no longer
 * exist are omitted.
 *
 * @throws RequestMalformedError if the page size, the page token, the state or the time is invalid.
 */
async function listedOf(
  ids: readonly string[],
  params: ListTasksRequest,
  read: Read,
): Promise<ListTasksResponse> {
  const { pageSize = PAGE_SIZE, pageToken, historyLength, includeArtifacts = false } = params;
  const fits = filterOf(params);
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE) {
    throw new RequestMalformedError(`pageSize must be between 1 and ${MAX_PAGE}`);
  }
  const found: { readonly id: string; readonly time: string }[] = [];
  for (const [at, id] of ids.entries()) {
    // If the handler answers without waiting, a long list would block the event loop.
    if (at % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const task = await present(read(id, 0));
    if (task !== undefined && fits(task)) found.push({ id, time: task.status?.timestamp ?? "" });
  }
  found.sort((a, b) => compare(b.time, a.time) || compare(b.id, a.id));
  const from = pageToken === "" ? 0 : 1 + found.findIndex(({ id }) => id === idIn(pageToken));
  if (pageToken !== "" && from === 0) {
    throw new RequestMalformedError("pageToken must be the nextPageToken of an earlier page");
  }
  const page = found.slice(from, from + pageSize);
  const tasks: Task[] = [];
  for (const { id } of page) {
    const task = await present(read(id, historyLength));
    if (task !== undefined) tasks.push(includeArtifacts ? task : { ...task, artifacts: [] });
  }
  const last = from + page.length < found.length ? (page.at(-1)?.id ?? "") : "";
  return { tasks, pageSize, totalSize: found.length, nextPageToken: tokenOf(last) };
}

/** @throws RequestMalformedError if the state is unknown, or the time is invalid. */
function filterOf({
  contextId,
  status,
  statusTimestampAfter: after,
}: ListTasksRequest): (task: Task) => boolean {
  if (status !== undefined && !(status in TaskState && status >= 0)) {
    throw new RequestMalformedError(`Invalid status filter: ${status}`);
  }
  const since = timeOf(after);
  if (after && since === undefined) {
    throw new RequestMalformedError("statusTimestampAfter must be a valid ISO 8601 date string");
  }
  return (task) =>
    (contextId === "" || task.contextId === contextId) &&
    (!status || task.status?.state === status) &&
    (since === undefined || (timeOf(task.status?.timestamp) ?? since) > since);
}

/** Returns a task; `undefined` if the handler does not find it. */
async function present(reading: Promise<Task>): Promise<Task | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof TaskNotFoundError) return undefined;
    throw error;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function tokenOf(id: string): string {
  return Buffer.from(id).toString("base64url");
}

function idIn(token: string): string {
  return Buffer.from(token, "base64url").toString();
}
