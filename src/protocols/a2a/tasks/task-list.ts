import { type ListTasksRequest, type ListTasksResponse, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { StoreQueries } from "../../../stores/database.js";
import { textOf, whole } from "../../../stores/stored-values.js";
import { type Viewer, visibleTo } from "./access-rows.js";
import type { TaskDatabase } from "./task-database.js";
import { taskOf, timeOf } from "./task-rows.js";

const PAGE_SIZE = 50;
const MAX_PAGE = 100;
/** Maximum size of a page, in bytes of its JSON in UTF-8. Tasks beyond it are on the next page. */
const PAGE_BYTES = 2 ** 20;

/** The last task of a page, after which the next page begins. */
interface PageCursor {
  /** The time of the task's status, in milliseconds since 1970. */
  readonly updated: number;
  /** The id of the task, as a JSON string. */
  readonly id: string;
}

const MAX_TOKEN = 2048;

function encodePageToken({ updated, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([updated, id])).toString("base64url");
}

/** @throws RequestMalformedError if no page can have returned the token. */
function decodePageToken(token: string): PageCursor {
  try {
    if (token.length > MAX_TOKEN) throw new TypeError("too long");
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(value) && value.length === 2) {
      return { updated: whole(value[0]), id: JSON.stringify(textOf(value[1])) };
    }
  } catch {
    // Malformed JSON is refused like every other invalid token.
  }
  throw new RequestMalformedError("pageToken must be the nextPageToken of an earlier page");
}

/** Returns the page and the filters that a request asks for. */
function pageOf(params: ListTasksRequest) {
  const { pageSize = PAGE_SIZE, includeArtifacts = false, pageToken } = params;
  const { contextId, status = TaskState.TASK_STATE_UNSPECIFIED, statusTimestampAfter } = params;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE) {
    throw new RequestMalformedError(`pageSize must be between 1 and ${MAX_PAGE}`);
  }
  const after = timeOf(statusTimestampAfter);
  if (statusTimestampAfter && after === undefined) {
    throw new RequestMalformedError("statusTimestampAfter must be a valid ISO 8601 date string");
  }
  return {
    pageSize,
    includeArtifacts,
    cursor: pageToken ? decodePageToken(pageToken) : undefined,
    context: contextId ? JSON.stringify(contextId) : undefined,
    state: status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : status,
    after,
  };
}

/**
 * Returns one page of the tasks that a viewer may see, latest status first.
 *
 * @throws RequestMalformedError if the page size, the page token or the time is invalid.
 */
export async function listTasks(
  db: StoreQueries,
  params: ListTasksRequest,
  viewer: Viewer,
  tasks: TaskDatabase,
): Promise<ListTasksResponse> {
  const { pageSize, includeArtifacts, cursor, context, state, after } = pageOf(params);
  const listed = db
    .selectFrom("task")
    .where("access", "in", visibleTo(db, viewer))
    .$if(context !== undefined, (query) => query.where("context", "=", context ?? ""))
    .$if(state !== undefined, (query) => query.where("state", "=", state ?? 0))
    .$if(after !== undefined, (query) => query.where("updated", ">", after ?? 0));
  const { total } = await listed
    .select((of) => of.fn.countAll().as("total"))
    .executeTakeFirstOrThrow();
  const { updated = 0, id = "" } = cursor ?? {};
  // Read only the sizes first: parsing bodies that do not fit into the page would block the event loop
  // needlessly.
  const rows = await listed
    .select((of) => ["id", "updated", of.fn<number>("octet_length", ["body"]).as("body")])
    .$if(includeArtifacts, (query) =>
      query.select((of) => of.fn<number>("octet_length", ["artifacts"]).as("artifacts")),
    )
    .$if(cursor !== undefined, (query) =>
      query.where((of) =>
        of.or([of("updated", "<", updated), of("updated", "=", updated).and("id", "<", id)]),
      ),
    )
    .orderBy("updated", "desc")
    .orderBy("id", "desc")
    .limit(pageSize + 1)
    .execute();
  const shown = rows.slice(0, fitting(rows.slice(0, pageSize)));
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  const ids = shown.map((row) => row.id);
  const read = listed
    .select(["id", "body"])
    .$if(includeArtifacts, (query) => query.select("artifacts"))
    .where("id", "in", ids);
  // PostgreSQL does not accept an empty list after IN.
  const found = new Map((ids.length > 0 ? await read.execute() : []).map((row) => [row.id, row]));
  return {
    // A task may have been removed or changed since it was selected.
    tasks: tasks.readStored(() => ids.flatMap((one) => found.get(one) ?? []).map(taskOf)),
    nextPageToken: last === undefined ? "" : encodePageToken(last),
    pageSize,
    totalSize: Number(total),
  };
}

/**
 * Returns the number of rows that fit into a page. The first row always fits.
 *
 * @param rows - The size of each task's columns, in bytes.
 */
function fitting(rows: readonly { readonly body: number; readonly artifacts?: number }[]): number {
  let bytes = 0;
  for (const [at, { body, artifacts = 0 }] of rows.entries()) {
    bytes += body + artifacts;
    if (bytes > PAGE_BYTES && at > 0) return at;
  }
  return rows.length;
}
