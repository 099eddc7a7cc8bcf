import { TaskState } from "@a2a-js/sdk";
import type { Kysely, Selectable } from "kysely";
import { type FixedQuery, fixedQuery } from "../../storage/fixed-query.js";
import type { StoreTables } from "../database.js";
import type { TaskColumns } from "./task-row.js";

// The queries of every call: one that begins a task, and one that ends it.

/** What is read of a task. */
export type TaskRow = Omit<
  Selectable<StoreTables["task"]>,
  "id" | "principal" | "context" | "instance" | "updated" | "saved"
>;

const selectTask = fixedQuery<StoreTables, { readonly id: string }, TaskRow>((db, later) =>
  db
    .selectFrom("task")
    .select(["seq", "access", "state", "party", "uses", "bytes", "messages", "body", "artifacts"])
    .where("id", "=", later("id"))
    .compile(),
);

/** The row of a task. */
export async function rowOf(db: Kysely<StoreTables>, id: string): Promise<TaskRow | undefined> {
  const { rows } = await selectTask(db, { id: JSON.stringify(id) });
  return rows[0];
}

/** A task that is not there, and the access that it is made with. */
export interface NewTask extends Omit<Selectable<StoreTables["task"]>, "seq" | "access"> {
  /** The key of the access, and the time that it must have been used after. */
  readonly key: string;
  readonly since: number;
}

type Given<T> = { readonly [Name in keyof T]: T[Name] };

const insertNew: FixedQuery<StoreTables, Given<NewTask>, unknown> = fixedQuery((db, later) =>
  db
    .insertInto("task")
    .columns(["access", ...NEW])
    .expression(
      db
        .selectFrom("access")
        .select("seq")
        .select((of) => NEW.map((name) => of.val(later(name)).as(name)))
        .where("key", "=", later("key"))
        .where("used", ">", later("since")),
    )
    .onConflict((conflict) => conflict.column("id").doNothing())
    .compile(),
);

const NEW = [
  ...(["id", "principal", "party", "uses", "context", "state", "instance"] as const),
  ...(["updated", "saved", "bytes", "messages", "body", "artifacts"] as const),
] as const;

/**
 * Inserts a task, made with an access that is there.
 *
 * @returns Whether it did: not if there is a task of its id, or no such access.
 */
export async function insertTask(db: Kysely<StoreTables>, task: NewTask): Promise<boolean> {
  const { numAffectedRows = 0n } = await insertNew(db, task);
  return numAffectedRows > 0n;
}

/** What is written of a task that has ended, and which instance it must still be under way in. */
interface Ended extends Omit<TaskColumns, "context">, Pick<NewTask, "id" | "uses"> {
  readonly by: string;
}

// When it was saved stays as it began, which spares an index: a call lasts no longer than its limit.
const updateEnded = fixedQuery<StoreTables, Given<Ended>, unknown>((db, later) =>
  db
    .updateTable("task")
    .set({
      ...{ state: later("state"), updated: later("updated"), bytes: later("bytes") },
      ...{ body: later("body"), artifacts: later("artifacts") },
      ...{ instance: null, uses: later("uses") },
    })
    .where("id", "=", later("id"))
    .where("instance", "=", later("by"))
    .where("state", "=", TaskState.TASK_STATE_WORKING)
    .compile(),
);

/** Writes what a task has come to, if it is still under way in an instance. @returns Whether it was. */
export async function endTask(db: Kysely<StoreTables>, ended: Ended): Promise<boolean> {
  const { numAffectedRows = 0n } = await updateEnded(db, ended);
  return numAffectedRows > 0n;
}
