import { type RawBuilder, sql } from "kysely";
import { BATCH, inBatches } from "../batches.js";
import type { TableDatabase } from "../database.js";
import { type Places, pruneEnded } from "./ended.js";

/** Removes some of the used ids that have expired. @param now - Milliseconds since 1970. */
export function usedOnceOver(now: number): RawBuilder<unknown> {
  return sql`DELETE FROM used_once WHERE key IN
    (SELECT key FROM used_once WHERE expires <= ${now} LIMIT ${sql.lit(BATCH)})`;
}

/**
 * Removes, in small steps, used ids and answered requests that have expired; and approvals, grants, agents and
 * hosts that ended, and delegations that expired, long ago.
 *
 * @param now - Milliseconds since 1970, and so is `before`: when the latter must have been over.
 * @param places - What {@link pruneEnded} keeps between the calls.
 * @returns How many rows were removed.
 */
export async function pruneRegistry(
  database: TableDatabase,
  now: number,
  before: number,
  places: Places,
): Promise<number> {
  const most = sql.lit(BATCH);
  const steps = [
    usedOnceOver(now),
    sql`DELETE FROM answered_request WHERE id IN
      (SELECT id FROM answered_request WHERE expires <= ${now} LIMIT ${most})`,
    sql`DELETE FROM delegation WHERE id IN
      (SELECT id FROM delegation WHERE expires <= ${before} LIMIT ${most})`,
    sql`DELETE FROM approval WHERE id IN
      (SELECT id FROM approval WHERE until <= ${before} LIMIT ${most})`,
    // Of approvals that are gone.
    sql`DELETE FROM approver WHERE approval IN
      (SELECT approval FROM approver
        WHERE NOT EXISTS (SELECT 1 FROM approval WHERE approval.id = approver.approval) LIMIT ${most})`,
  ];
  let removed = 0;
  for (const step of steps) {
    removed += await inBatches(database, async (db) =>
      Number((await step.execute(db)).numAffectedRows ?? 0),
    );
  }
  return removed + (await pruneEnded(database, before, places));
}
