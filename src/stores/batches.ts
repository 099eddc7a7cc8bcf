import type { Write } from "../storage/group-commit.js";
import type { StoreTables, TableDatabase } from "./database.js";

/** Rows that one transaction removes or changes at most, so that no other write waits long. */
export const BATCH = 200;

/**
 * Writes in transactions of {@link BATCH} rows, also on a disk that is nearly full: it makes room.
 *
 * @param step - Writes at most this many rows, and returns their number.
 * @param isOver - Called after each transaction; returns whether to leave the rest for another time.
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
