import type { Write } from "../storage/group-commit.js";
import type { StoreTables, TableDatabase } from "./database.js";

/** Most rows that one transaction removes or changes, so that other writes do not wait long. */
export const BATCH = 200;

/**
 * Writes in transactions of {@link BATCH} rows. Allowed on a nearly full disk, since it frees space.
 *
 * @param step - Writes at most `most` rows, and returns their number.
 * @param isOver - Called after each transaction; returns true to stop and leave the rest for another time.
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
