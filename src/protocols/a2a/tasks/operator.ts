import { type Task, taskStateToJSON } from "@a2a-js/sdk";
import type { Selectable } from "kysely";
import type { AuthorityUse } from "../../../agent/coverage.js";
import { type StoreDatabase, type StoreTables, tablesOf } from "../../../stores/database.js";
import { readStored, textOf } from "../../../stores/stored-values.js";
import { taskOf, usesIn } from "./task-rows.js";

/** A task as shown to the operator, who may see the tasks of all principals. */
export interface TaskSummary {
  readonly id: string;
  readonly principal: string;
  /** Absent if the task was made with ambient authority. */
  readonly invoker?: string;
  /** The A2A name of the task's state, such as `TASK_STATE_COMPLETED`. */
  readonly state: string;
  /**
   * Time when the task was last saved: `YYYY-MM-DDTHH:MM:SS.mmmZ`. For a task that started and ended in one
   * call, the start of the call.
   */
  readonly saved: string;
  /** Size of the stored task, in bytes of UTF-8. */
  readonly bytes: number;
  /** The uses of authority by the task. */
  readonly uses: readonly AuthorityUse[];
}

const COLUMNS = ["id", "principal", "party", "state", "saved", "bytes", "uses"] as const;

/**
 * Returns the tasks of all principals or of one principal, the latest saved first.
 *
 * @throws StorageError if the database cannot be read, or a row is damaged.
 */
export async function listAllTasks(
  database: StoreDatabase,
  { principal, limit }: { readonly principal?: string | undefined; readonly limit: number },
): Promise<readonly TaskSummary[]> {
  const rows = await tablesOf(database).read((db) =>
    db
      .selectFrom("task")
      .select(COLUMNS)
      .$if(principal !== undefined, (query) =>
        query.where("principal", "=", JSON.stringify(principal)),
      )
      .orderBy("saved", "desc")
      .orderBy("seq", "desc")
      .limit(limit)
      .execute(),
  );
  return readStored(database.name, "a task", () => rows.map(summaryOf));
}

/**
 * Returns the task with an id, whoever made it; `undefined` if the task does not exist.
 *
 * @throws StorageError if the database cannot be read, or a row is damaged.
 */
export async function readAnyTask(
  database: StoreDatabase,
  id: string,
): Promise<{ readonly summary: TaskSummary; readonly task: Task } | undefined> {
  const row = await tablesOf(database).read((db) =>
    db
      .selectFrom("task")
      .select([...COLUMNS, "body", "artifacts"])
      .where("id", "=", JSON.stringify(id))
      .executeTakeFirst(),
  );
  return readStored(
    database.name,
    "a task",
    () => row && { summary: summaryOf(row), task: taskOf(row) },
  );
}

/** @throws TypeError, SyntaxError or RangeError if the row is damaged. */
function summaryOf(
  row: Pick<Selectable<StoreTables["task"]>, (typeof COLUMNS)[number]>,
): TaskSummary {
  const party: unknown = row.party === null ? [] : JSON.parse(row.party);
  const invoker = Array.isArray(party) ? party[2] : undefined;
  return {
    id: textOf(row.id),
    principal: textOf(row.principal),
    ...(typeof invoker === "string" ? { invoker } : {}),
    state: taskStateToJSON(row.state),
    saved: new Date(row.saved).toISOString(),
    bytes: row.bytes,
    uses: usesIn(row),
  };
}
