import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { timeOf } from "./tasks/task-row.js";

const PAGE_SIZE = 50;
const MAX_PAGE = 100;
/** Tasks that are read before others get their turn. */
const AT_ONCE = 50;

/** Reads one task. @param historyLength - Of messages; all unless given. */
type Read = (id: string, historyLength: number | undefined) => Promise<Task>;

/**
 * A page of given tasks: latest status first, with the filters of the protocol. What is not there any more
 * is left out.
 *
 * @throws RequestMalformedError if the page's size or token, the state, or the time is wrong.
 */
export async function listedOf(
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
    // A handler that answers at once would keep all others waiting.
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

/** @throws RequestMalformedError if there is no such state, or the time is invalid. */
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

/** A task that is there, or nothing. */
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
