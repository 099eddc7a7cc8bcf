import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { tablesOf } from "../../../src/stores/database.js";
import { openStores } from "../../../src/stores/index.js";
import { RevocationMirror } from "../../../src/stores/revocations/mirror.js";
import { RevocationRows } from "../../../src/stores/revocations/rows.js";
import { onBothDatabases } from "../../support/databases.js";

/** Number of entries that the mirror reads at once. */
const CHUNK = 5000;

onBothDatabases((place) => {
  test("RevocationMirror misses no revocation that is made while it reads a long list", async () => {
    const database = await openStores(await place(), "create");
    onTestFinished(() => database.close());
    const numbers = (from: number, to: number): string =>
      database.dialect === "sqlite"
        ? `(WITH RECURSIVE n(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM n WHERE n < ${to}) SELECT n FROM n) AS n`
        : `generate_series(${from}, ${to}) AS n`;
    const run = (...statements: readonly string[]): Promise<void> =>
      tablesOf(database).write(async (db) => {
        for (const statement of statements) await sql.raw(statement).execute(db);
      });
    const insert = (from: number, to: number): string =>
      `INSERT INTO revocation (kind, id, at, changed)
        SELECT 'capability', '"cap_' || n || '"', 0, n FROM ${numbers(from, to)}`;
    const last = CHUNK + 1;
    await run(insert(1, last), `UPDATE revocation_state SET version = ${last}`);

    const mirror = new RevocationMirror(tablesOf(database), new RevocationRows(database.name));
    let reads = 0;
    await mirror.look(async (action) => {
      // After the mirror has read the state and the first entries, the last entry moves behind a full page of
      // new entries.
      if (++reads === 3) {
        const anew = last + CHUNK + 1;
        await run(
          insert(last + 1, last + CHUNK),
          `UPDATE revocation SET changed = ${anew} WHERE id = '"cap_${last}"'`,
          `UPDATE revocation_state SET version = ${anew}`,
        );
      }
      return tablesOf(database).read(action);
    });
    const found = mirror.find({ links: [], capability: `cap_${last}`, keys: [], issued: 0 });
    expect(found.map(({ id }) => id)).toEqual([`cap_${last}`]);
    expect(mirror.size).toBe(last + CHUNK);
  });
});
