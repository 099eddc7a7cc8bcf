import { TaskState } from "@a2a-js/sdk";
import type { Selectable } from "kysely";
import type { StoreQueries, StoreTables } from "../../../stores/database.js";
import type { TaskColumns } from "./task-row.js";

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
