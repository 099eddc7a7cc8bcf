import type { Write } from "../storage/group-commit.js";
import type { StoreTables, TableDatabase } from "./database.js";

/** Rows that one transaction removes or changes at most, so that no other write waits for it long. */
export const BATCH = 200;

/**
 * Writes in transactions of {@link BATCH} rows, also on a disk that is nearly full: it makes room.
 *
 * @param step - Writes at most so many rows, and gives how many.
 * @param isOver - Asked after each transaction: whether the rest is left for another time.
 * @returns How many rows were written.
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
