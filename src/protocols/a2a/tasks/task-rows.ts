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

/** Before any time that a status can have. */
const NEVER = Number.MIN_SAFE_INTEGER;

const EMPTY: Task = {
  id: "",
  contextId: "",
  status: undefined,
  artifacts: [],
  history: [],
  metadata: undefined,
};

/** What a task's row says of the task itself. */
export type TaskColumns = Pick<
  StoreTables["task"],
  "context" | "state" | "updated" | "bytes" | "body" | "artifacts"
>;

/** What of a task mostly stays the same while it runs, and its JSON. */
export interface StableText extends Pick<Task, "id" | "history" | "metadata"> {
  readonly text: string;
}

/** @param known - What was said of it before: written anew only where it has changed since. */
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
  // Two objects without a member in common, as one.
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
 * The task of a row; without its artifacts where the row was read without them.
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

/** Gives data parts their null back, which the SDK reads as no content. */
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

/** What a task was done with, as it is kept: each use once. */
export function usesText(uses: readonly AuthorityUse[]): string {
  return JSON.stringify([...new Map(uses.map((use) => [JSON.stringify(use), use])).values()]);
}

/**
 * What the task of a row was done with.
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

/** Milliseconds since 1970 of a status; `undefined` if it has no time, or a malformed one. */
export function timeOf(timestamp: string | undefined): number | undefined {
  const time = timestamp ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Whether something runs in a task of this state. */
export function isRunning(state: number): boolean {
  return RUNNING.includes(state);
}

/** Whether a task of this state waits for a further message. */
export function isWaiting(state: number): boolean {
  return WAITING.includes(state);
}

/** Whether a task of this state may come to something still. */
export function goesOn(state: number): boolean {
  return isRunning(state) || isWaiting(state);
}

const WAITING: readonly number[] = [
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
];

const RUNNING: readonly number[] = [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING];

// The queries of every call: one that begins a task, and one that ends it.

/** What is read of a task. */
export type TaskRow = Omit<
  Selectable<StoreTables["task"]>,
  "id" | "principal" | "context" | "instance" | "updated" | "saved"
>;

/** The row of a task. */
export function rowOf(db: StoreQueries, id: string): Promise<TaskRow | undefined> {
  return db
    .selectFrom("task")
    .select(["seq", "access", "state", "party", "uses", "bytes", "messages", "body", "artifacts"])
    .where("id", "=", JSON.stringify(id))
    .executeTakeFirst();
}

/** A task that is not there, and the access that it is made with. */
export interface NewTask extends Omit<Selectable<StoreTables["task"]>, "seq" | "access"> {
  /** The key of the access, and the time that it must have been used after. */
  readonly key: string;
  readonly since: number;
}

const NEW = [
  ...(["id", "principal", "party", "uses", "context", "state", "instance"] as const),
  ...(["updated", "saved", "bytes", "messages", "body", "artifacts"] as const),
] as const;

/**
 * Inserts a task, made with an access that is there.
 *
 * @returns Whether it did: not if there is a task of its id, or no such access.
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

/** What is written of a task that has ended, and which instance it must still be under way in. */
interface Ended extends Omit<TaskColumns, "context">, Pick<NewTask, "id" | "uses"> {
  readonly by: string;
}

/** Writes what a task has come to, if it is still under way in an instance. @returns Whether it was. */
export async function endTask(db: StoreQueries, { id, by, ...columns }: Ended): Promise<boolean> {
  // When it was saved stays as it began, which spares an index: a call lasts no longer than its limit.
  const { numUpdatedRows } = await db
    .updateTable("task")
    .set({ ...columns, instance: null })
    .where("id", "=", id)
    .where("instance", "=", by)
    .where("state", "=", TaskState.TASK_STATE_WORKING)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
