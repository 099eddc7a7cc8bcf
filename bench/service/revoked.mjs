// The revocation list of the servers, in one database. The first server fills the list, and all servers follow it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { createStores, openRevocations, openStores } from "proviso/stores";

const DAY_SECONDS = 24 * 60 * 60;

/**
 * Opens a list with this many revoked links.
 * @param {{ readonly revocations: number, readonly folder: string }} size
 */
export async function openRevoked({ revocations: count, folder }) {
  const file = join(folder, `revocations-${count}.db`);
  if (!existsSync(file)) {
    await (await createStores(file)).close();
    fill(file, count);
  }
  const database = await openStores(file);
  const revocations = await openRevocations(database);
  return { revocations, close: () => database.close() };
}

/**
 * Adds rows in the store's form. The store itself commits each entry.
 * @param {string} file @param {number} count
 */
function fill(file, count) {
  const database = new Database(file);
  const at = Math.floor(Date.now() / 1000);
  database
    .prepare(
      `WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
       INSERT INTO revocation (kind, id, until, at, changed)
       SELECT 'link', printf('"rv_%021xA"', n), ?, ?, n FROM number WHERE n <= ?`,
    )
    .run(count, at + DAY_SECONDS, at, count);
  database.prepare("UPDATE revocation_state SET version = ?").run(count);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}
