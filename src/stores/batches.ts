import type { Write } from "../storage/group-commit.js";
import type { StoreTables, TableDatabase } from "./database.js";

/** Maximum number of rows that one transaction removes or changes, so that other writes do not wait long. */
export const BATCH = 200;

/**
 * Calls `step` in one transaction after another, until it writes fewer than {@link BATCH} rows. The
 * transactions are allowed on a nearly full disk, since they free space.
 *
 * @param step - Writes at most {@link BATCH} rows, and returns the number of rows written.
 * @param isOver - Called after each transaction. Returns `true` to stop; a later call handles the remaining
 *   rows.
 * @returns The number of rows written.
 */
export async function inBatches(
  database: TableDatabase,
  step: Write<StoreTables, number>,
  isOver: () => boolean = () => false,
): Promise<number> {
  let written = 0;
  for (;;) {
    const count = await database.write(step, { urgent: true });
    written += count;
    if (count < BATCH || isOver()) return written;
  }
}
