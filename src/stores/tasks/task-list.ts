import { type ListTasksRequest, type ListTasksResponse, Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { SqlValue } from "../../storage/sqlite-driver.js";
import type { TaskTables, Viewer } from "./task-tables.js";

const PAGE_SIZE = 50;
const LARGEST_PAGE = 100;
/** What a page holds, in characters of JSON; the rest is on the next. */
const PAGE_CHARACTERS = 2 ** 20;

/** The last task of a page, after which the next page begins. */
interface PageCursor {
  /** Milliseconds since 1970 of its status. */
  readonly updated: number;
  /** Its id, as a JSON string. */
  readonly id: string;
}

const LONGEST = 2048;

function encodePageToken({ updated, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([updated, id])).toString("base64url");
}

/** @throws RequestMalformedError if no page has given this token. */
function decodePageToken(token: string): PageCursor {
  try {
    if (token.length > LONGEST) throw new TypeError("too long");
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(value) && value.length === 2) {
      const [updated, id]: unknown[] = value;
      if (typeof updated === "number" && Number.isSafeInteger(updated) && typeof id === "string") {
        return { updated, id };
      }
    }
  } catch {
    // Said below.
  }
  throw new RequestMalformedError("pageToken must be the nextPageToken of an earlier page");
}

/** Which tasks are listed, as a request asked for them. */
export interface TaskPage {
  readonly pageSize: number;
  readonly includeArtifacts: boolean;
  readonly cursor: PageCursor | undefined;
  /** What is appended to a WHERE, and its values. */
  readonly filter: { readonly sql: string; readonly values: readonly SqlValue[] };
}

/**
 * What a request asks for, with the protocol's filters.
 *
 * @throws RequestMalformedError if the page's size or token, or the time, is none.
 */
export function pageOf(params: ListTasksRequest): TaskPage {
  const { pageSize = PAGE_SIZE, includeArtifacts = false, pageToken } = params;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > LARGEST_PAGE) {
    throw new RequestMalformedError(`pageSize must be between 1 and ${LARGEST_PAGE}`);
  }
  const cursor = pageToken ? decodePageToken(pageToken) : undefined;
  return { pageSize, includeArtifacts, cursor, filter: filterOf(params) };
}

/** One page of the tasks that a viewer may see, latest status first. */
export function listTasks(tables: TaskTables, page: TaskPage, viewer: Viewer): ListTasksResponse {
  const { pageSize, includeArtifacts, cursor, filter } = page;
  const where = `FROM task WHERE access IN (SELECT value FROM json_each(?))${filter.sql}`;
  const values = [JSON.stringify(tables.visibleTo(viewer)), ...filter.values];
  const [count] = tables.rows(`SELECT count(*) AS total ${where}`, ...values);
  const after = cursor === undefined ? "" : " AND (updated, id) < (?, ?)";
  const rows = tables.rows(
    `SELECT id, updated, body${includeArtifacts ? ", artifacts" : ""} ${where}${after}
     ORDER BY updated DESC, id DESC LIMIT ?`,
    ...values,
    ...(cursor === undefined ? [] : [cursor.updated, cursor.id]),
    pageSize + 1,
  );
  const shown = rows.slice(0, fitting(tables, rows.slice(0, pageSize), includeArtifacts));
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  const next =
    last === undefined
      ? ""
      : encodePageToken({ updated: tables.number(last, "updated"), id: tables.text(last, "id") });
  return {
    tasks: shown.map((row) => taskOf(tables, row, includeArtifacts)),
    nextPageToken: next,
    pageSize,
    totalSize: tables.number(count, "total"),
  };
}

/** How many of the rows fit into a page's bytes; at least one, so that there is progress. */
function fitting(tables: TaskTables, rows: readonly unknown[], withArtifacts: boolean): number {
  let bytes = 0;
  for (const [at, row] of rows.entries()) {
    bytes += tables.text(row, "body").length;
    if (withArtifacts) bytes += tables.text(row, "artifacts").length;
    if (bytes > PAGE_CHARACTERS && at > 0) return at;
  }
  return rows.length;
}

/** The task of a row, which must have the column `artifacts` if they are wanted. */
export function taskOf(tables: TaskTables, row: unknown, withArtifacts: boolean): Task {
  const task = Task.fromJSON(tables.json(row, "body"));
  if (!withArtifacts) return task;
  return { ...task, artifacts: Task.fromJSON(tables.json(row, "artifacts")).artifacts };
}

/** Milliseconds since 1970 of a status; `undefined` if it has no time, or one that is none. */
export function timeOf(timestamp: string | undefined): number | undefined {
  const time = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(time) ? undefined : time;
}

function filterOf({
  contextId,
  status,
  statusTimestampAfter,
}: ListTasksRequest): TaskPage["filter"] {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (contextId) {
    conditions.push(" AND context = ?");
    values.push(JSON.stringify(contextId));
  }
  if (status !== undefined && status !== TaskState.TASK_STATE_UNSPECIFIED) {
    conditions.push(" AND state = ?");
    values.push(status);
  }
  if (statusTimestampAfter) {
    const after = timeOf(statusTimestampAfter);
    if (after === undefined) {
      throw new RequestMalformedError("statusTimestampAfter must be a valid ISO 8601 date string");
    }
    conditions.push(" AND updated > ?");
    values.push(after);
  }
  return { sql: conditions.join(""), values };
}
