import { BATCH, inBatches } from "../../../stores/batches.js";
import type { StoreQueries, TableDatabase } from "../../../stores/database.js";
import { pruneAccesses } from "./access-rows.js";
import { keysIn } from "./messages.js";

/** Maximum number of keys in one statement. */
const MOST_KEYS = 1000;

/**
 * Removes tasks that were last saved before `before`, push configurations whose task is gone, and accesses that
 * nothing refers to.
 *
 * @returns The number of tasks removed.
 */
export async function pruneTasks(database: TableDatabase, before: number): Promise<number> {
  const removed = await inBatches(database, (db) => removeTasks(db, before));
  await database.write(
    (db) =>
      db
        .deleteFrom("push")
        .where("saved", "<", before)
        .where("task", "not in", db.selectFrom("task").select("id"))
        .execute(),
    { urgent: true },
  );
  await inBatches(database, (db) => pruneAccesses(db, before, BATCH));
  return removed;
}

async function removeTasks(db: StoreQueries, before: number): Promise<number> {
  const old = db.selectFrom("task").select("id").where("saved", "<", before).limit(BATCH);
  const rows = await db
    .deleteFrom("task")
    .where("id", "in", old)
    .where("saved", "<", before)
    .returning(["id", "messages"])
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await db.deleteFrom("push").where("task", "in", ids).execute();
  // A row with a damaged list of messages is removed too. Its messages are then deleted by the task's id.
  const damaged: string[] = [];
  const keys = rows.flatMap((row) => {
    try {
      return keysIn(row);
    } catch {
      damaged.push(row.id);
      return [];
    }
  });
  if (damaged.length > 0) await db.deleteFrom("message").where("task", "in", damaged).execute();
  for (let from = 0; from < keys.length; from += MOST_KEYS) {
    const some = keys.slice(from, from + MOST_KEYS);
    await db.deleteFrom("message").where("key", "in", some).execute();
  }
  return ids.length;
}
