import { type Part, Task, TaskState } from "@a2a-js/sdk";
import type { Selectable } from "kysely";
import type { AuthorityUse } from "../../../agent/coverage.js";
import {
  isJsonObject,
  isObject,
  isTexts,
  type Json,
  type JsonObject,
} from "../../../bytes/json.js";
import type { StoreQueries, StoreTables } from "../../../stores/database.js";

/** The time of a task whose status has no time. Every real time is later. */
const NEVER = Number.MIN_SAFE_INTEGER;

const EMPTY: Task = {
  id: "",
  contextId: "",
  status: undefined,
  artifacts: [],
  history: [],
  metadata: undefined,
};

/** The columns of a row that describe the task itself. */
export type TaskColumns = Pick<
  StoreTables["task"],
  "context" | "state" | "updated" | "bytes" | "body" | "artifacts"
>;

/** The parts of a task that rarely change while it runs, with their JSON. */
export interface StableText extends Pick<Task, "id" | "history" | "metadata"> {
  readonly text: string;
}

/**
 * Serializes the stable parts of a task.
 *
 * @param known - The previous result; reused if nothing has changed.
 */
export function stableTextOf(
  { id, contextId, history, metadata }: Task,
  known?: StableText,
): StableText {
  const same = known?.id === id && known.history === history && known.metadata === metadata;
  if (same) return known;
  const text = JSON.stringify(Task.toJSON({ ...EMPTY, id, contextId, history, metadata }));
  return { id, history, metadata, text };
}

export function columnsOf(task: Task, stable: StableText = stableTextOf(task)): TaskColumns {
  const { status, contextId } = task;
  const state = JSON.stringify(Task.toJSON({ ...EMPTY, status }));
  // Joins the JSON of two objects that have no common property.
  const body = `${stable.text.slice(0, -1)}${status === undefined ? "" : ","}${state.slice(1)}`;
  const artifacts = JSON.stringify(Task.toJSON({ ...EMPTY, artifacts: task.artifacts }));
  return {
    context: JSON.stringify(contextId),
    state: status?.state ?? TaskState.TASK_STATE_UNSPECIFIED,
    updated: timeOf(status?.timestamp) ?? NEVER,
    bytes: Buffer.byteLength(body) + Buffer.byteLength(artifacts),
    body,
    artifacts,
  };
}

/**
 * Returns the task of a row; without artifacts if they were not read.
 *
 * @throws TypeError, SyntaxError or RangeError if the row is damaged.
 */
export function taskOf(row: { readonly body: string; readonly artifacts?: string }): Task {
  const task = taskFrom(row.body);
  return row.artifacts === undefined
    ? task
    : { ...task, artifacts: taskFrom(row.artifacts).artifacts };
}

function taskFrom(text: string): Task {
  const json: Json = JSON.parse(text);
  if (!isJsonObject(json)) throw new TypeError("this is not a task");
  const task = Task.fromJSON(json);
  restoreNulls(task.status?.message, membersOf(json["status"])["message"]);
  for (const [name, owners] of [
    ["artifacts", task.artifacts],
    ["history", task.history],
  ] as const) {
    const listed = json[name];
    if (!Array.isArray(listed)) continue;
    for (const [at, owner] of owners.entries()) restoreNulls(owner, listed[at]);
  }
  return task;
}

/** Restores data parts that contain null, which the SDK reads as parts without content. */
function restoreNulls(owner: { readonly parts: Part[] } | undefined, json: Json | undefined): void {
  const { parts: listed } = membersOf(json);
  if (owner === undefined || !Array.isArray(listed)) return;
  for (const [at, part] of owner.parts.entries()) {
    if (part.content !== undefined || membersOf(listed[at])["data"] !== null) continue;
    part.content = { $case: "data", value: null };
  }
}

function membersOf(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** Serializes a task's uses of authority, each once. */
export function usesText(uses: readonly AuthorityUse[]): string {
  return JSON.stringify([...new Map(uses.map((use) => [JSON.stringify(use), use])).values()]);
}

/**
 * Returns the uses of authority in a task's row.
 *
 * @throws TypeError or SyntaxError if the row is damaged.
 */
export function usesIn({ uses }: { readonly uses: string }): readonly AuthorityUse[] {
  const list: unknown = JSON.parse(uses);
  if (Array.isArray(list) && list.every(isUse)) return list;
  throw new TypeError("this is not what a task was done with");
}

function isUse(value: unknown): value is AuthorityUse {
  if (!isObject(value)) return false;
  const { grant, operation = "", resources } = value;
  return isTexts([grant, operation]) && isTexts(resources);
}

/** Returns the time of a status in milliseconds since 1970; `undefined` if it is missing or malformed. */
export function timeOf(timestamp: string | undefined): number | undefined {
  const time = timestamp ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Returns whether a task in this state is running. */
export function isRunning(state: number): boolean {
  return RUNNING.includes(state);
}

/** Returns whether a task in this state waits for a further message. */
export function isWaiting(state: number): boolean {
  return WAITING.includes(state);
}

/** Returns whether a task in this state can still change. */
export function goesOn(state: number): boolean {
  return isRunning(state) || isWaiting(state);
}

const WAITING: readonly number[] = [
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
];

const RUNNING: readonly number[] = [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING];

// Queries for one task. A call usually needs only two: `insertTask` when its task starts, `endTask` when the
// task ends.

/** The columns that {@link rowOf} reads. */
export type TaskRow = Omit<
  Selectable<StoreTables["task"]>,
  "id" | "principal" | "context" | "instance" | "updated" | "saved"
>;

/** Returns the row of a task; `undefined` if the task does not exist. */
export function rowOf(db: StoreQueries, id: string): Promise<TaskRow | undefined> {
  return db
    .selectFrom("task")
    .select(["seq", "access", "state", "party", "uses", "bytes", "messages", "body", "artifacts"])
    .where("id", "=", JSON.stringify(id))
    .executeTakeFirst();
}

/** The columns of a new task. `key` and `since` select its access. */
export interface NewTask extends Omit<Selectable<StoreTables["task"]>, "seq" | "access"> {
  /** The key of the access. The access must have been used after `since`, in milliseconds since 1970. */
  readonly key: string;
  readonly since: number;
}

const NEW = [
  ...(["id", "principal", "party", "uses", "context", "state", "instance"] as const),
  ...(["updated", "saved", "bytes", "messages", "body", "artifacts"] as const),
] as const;

/**
 * Inserts a task whose access exists already.
 *
 * @returns `true` if the task was inserted; `false` if the id is taken, or the access is absent or was not used
 *   after `since`.
 */
export async function insertTask(db: StoreQueries, task: NewTask): Promise<boolean> {
  const access = db
    .selectFrom("access")
    .select("seq")
    .select((of) => NEW.map((name) => of.val(task[name]).as(name)))
    .where("key", "=", task.key)
    .where("used", ">", task.since);
  const { numInsertedOrUpdatedRows: inserted = 0n } = await db
    .insertInto("task")
    .columns(["access", ...NEW])
    .expression(access)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .executeTakeFirstOrThrow();
  return inserted > 0n;
}

/** The columns written when a task ends, and the instance in which it must still be running. */
interface Ended extends Omit<TaskColumns, "context">, Pick<NewTask, "id" | "uses"> {
  readonly by: string;
}

/**
 * Writes the outcome of a task that is still running in the instance `by`.
 *
 * @returns `true` if the outcome was written.
 */
export async function endTask(db: StoreQueries, { id, by, ...columns }: Ended): Promise<boolean> {
  // `saved` keeps the start of the call, so that its index need not be updated. A call is short.
  const { numUpdatedRows } = await db
    .updateTable("task")
    .set({ ...columns, instance: null })
    .where("id", "=", id)
    .where("instance", "=", by)
    .where("state", "=", TaskState.TASK_STATE_WORKING)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
