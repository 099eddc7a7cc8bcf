import { TaskState } from "@a2a-js/sdk";
import type { Kysely, Selectable } from "kysely";
import { type FixedQuery, fixedQuery } from "../../storage/fixed-query.js";
import type { StoreTables } from "../database.js";
import type { TaskColumns } from "./task-row.js";

// The queries of every call: one that begins a task, and one that ends it.

/** What is read of a task. */
export type TaskRow = Pick<
  Selectable<StoreTables["task"]>,
  "seq" | "access" | "state" | "party" | "uses" | "bytes" | "body" | "artifacts"
>;

const selectTask = fixedQuery<StoreTables, { readonly id: string }, TaskRow>((db, later) =>
  db
    .selectFrom("task")
    .select(["seq", "access", "state", "party", "uses", "bytes", "body", "artifacts"])
    .where("id", "=", later("id"))
    .compile(),
);

/** The row of a task. */
export async function rowOf(db: Kysely<StoreTables>, id: string): Promise<TaskRow | undefined> {
  const { rows } = await selectTask(db, { id: JSON.stringify(id) });
  return rows[0];
}

type NewTask = Omit<Selectable<StoreTables["task"]>, "seq">;

/** Inserts a task that is not there. */
export const insertTask: FixedQuery<StoreTables, NewTask, unknown> = fixedQuery((db, later) =>
  db
    .insertInto("task")
    .values({
      ...{ id: later("id"), access: later("access"), principal: later("principal") },
      ...{ party: later("party"), uses: later("uses"), context: later("context") },
      ...{ state: later("state"), instance: later("instance"), updated: later("updated") },
      ...{ saved: later("saved"), bytes: later("bytes"), body: later("body") },
      artifacts: later("artifacts"),
    })
    .compile(),
);

/** What is written of a task that has ended, and which instance it must still be under way in. */
interface Ended extends TaskColumns, Pick<NewTask, "id" | "uses" | "saved"> {
  readonly by: string;
}

const updateEnded = fixedQuery<
  StoreTables,
  { readonly [Name in keyof Ended]: Ended[Name] },
  unknown
>((db, later) =>
  db
    .updateTable("task")
    .set({
      ...{ context: later("context"), state: later("state"), updated: later("updated") },
      ...{ bytes: later("bytes"), body: later("body"), artifacts: later("artifacts") },
      ...{ instance: null, uses: later("uses"), saved: later("saved") },
    })
    .where("id", "=", later("id"))
    .where("instance", "=", later("by"))
    .where("state", "=", TaskState.TASK_STATE_WORKING)
    .compile(),
);

/** Writes what a task has come to, if it is still under way in an instance. @returns Whether it was. */
export async function endTask(db: Kysely<StoreTables>, ended: Ended): Promise<boolean> {
  const { numAffectedRows = 0n } = await updateEnded(db, { ...ended });
  return numAffectedRows > 0n;
}
