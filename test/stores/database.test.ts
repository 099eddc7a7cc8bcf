import { sql } from "kysely";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { createStores, openStores } from "../../src/stores/database.js";
import { storageError } from "../issuer/support.js";
import { onBothDatabases, postgresIsMissing, postgresPlace } from "../support/databases.js";

onBothDatabases((place) => {
  test("the tables of every store are made, and are there for the next that opens it", async () => {
    const where = await place();
    await (await createStores(where)).close();
    const stores = await openStores(where);
    const [state] = await stores.read((db) =>
      db.selectFrom("revocation_state").selectAll().execute(),
    );
    expect(state).toEqual({ one: 1, version: 0, pruned: 0 });
    await stores.close();
  });
});

describe.skipIf(postgresIsMissing)("a PostgreSQL database", () => {
  test("without the tables is refused where it must have them: its name may be misspelt", async () => {
    const where = await postgresPlace();
    expect((await storageError(() => openStores(where))).code).toBe("store_missing");
    const made = await openStores(where, "create");
    await made.close();
    await (await openStores(where)).close();
  });

  test("keeps its tables in public, whatever schema has the role's name", async () => {
    const where = await postgresPlace();
    await (await createStores(where)).close();
    const client = new pg.Client({ connectionString: where });
    await client.connect();
    await client.query("CREATE SCHEMA proviso");
    await client.end();
    const stores = await openStores(where);
    const { rows } = await stores.read((db) =>
      sql<{ path: string; commit: string }>`SELECT current_setting('search_path') AS path,
        current_setting('synchronous_commit') AS commit`.execute(db),
    );
    expect(rows).toEqual([{ path: "public", commit: "on" }]);
    await stores.close();
  });
});
