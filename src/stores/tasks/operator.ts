import { type Task, taskStateToJSON } from "@a2a-js/sdk";
import type { AuthorityUse } from "../../agent/coverage.js";
import type { StoreDatabase } from "../database.js";
import { Stored } from "./stored.js";
import { taskOf } from "./task-row.js";
import { isUse } from "./uses.js";

/** What a task is to the operator, who sees the tasks of all principals. */
export interface TaskSummary {
  readonly id: string;
  readonly principal: string;
  /** Absent where the task was made with ambient authority. */
  readonly invoker?: string;
  /** As A2A writes it, such as `TASK_STATE_COMPLETED`. */
  readonly state: string;
  /** When it was last saved: `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly saved: string;
  /** In UTF-8, as it is stored. */
  readonly bytes: number;
  /** What it was done with. */
  readonly uses: readonly AuthorityUse[];
}

const COLUMNS = ["id", "principal", "party", "state", "saved", "bytes", "uses"] as const;

/**
 * The tasks of all principals, or of one, the latest saved first: for the operator.
 *
 * @throws StorageError
 */
export async function listAllTasks(
  database: StoreDatabase,
  { principal, limit }: { readonly principal?: string | undefined; readonly limit: number },
): Promise<readonly TaskSummary[]> {
  const rows = await database.read((db) =>
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
  const stored = new Stored(database.name);
  return rows.map((row) => summaryOf(row, stored));
}

/**
 * A task, whoever made it: for the operator.
 *
 * @throws StorageError
 */
export async function readAnyTask(
  database: StoreDatabase,
  id: string,
): Promise<{ readonly summary: TaskSummary; readonly task: Task } | undefined> {
  const row = await database.read((db) =>
    db
      .selectFrom("task")
      .select([...COLUMNS, "body", "artifacts"])
      .where("id", "=", JSON.stringify(id))
      .executeTakeFirst(),
  );
  const stored = new Stored(database.name);
  return row && { summary: summaryOf(row, stored), task: taskOf(row, stored) };
}

function summaryOf(
  row: { readonly [column in (typeof COLUMNS)[number]]: unknown },
  stored: Stored,
): TaskSummary {
  const party = row.party === null ? [] : stored.json(row.party, "party");
  const invoker = Array.isArray(party) ? party[2] : undefined;
  const uses = stored.json(row.uses, "uses");
  if (!Array.isArray(uses) || !uses.every(isUse)) return stored.damaged("uses");
  return {
    id: stored.string(row.id, "id"),
    principal: stored.string(row.principal, "principal"),
    ...(typeof invoker === "string" ? { invoker } : {}),
    state: taskStateToJSON(stored.number(row.state, "state")),
    saved: new Date(stored.number(row.saved, "saved")).toISOString(),
    bytes: stored.number(row.bytes, "bytes"),
    uses,
  };
}
