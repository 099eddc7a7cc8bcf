import { existsSync } from "node:fs";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { createStores, openStores, tablesOf } from "../../src/stores/database.js";
import { openRevocations } from "../../src/stores/revocations/open-revocations.js";
import { Bench } from "../cli/run.js";
import { storageError } from "../issuer/support.js";
import { onBothDatabases, postgresIsMissing, postgresPlace } from "../support/databases.js";
import { administer, DATABASES } from "../support/postgres.js";

onBothDatabases((place) => {
  test("createStores makes the tables of every store, and openStores finds them", async () => {
    const where = await place();
    await (await createStores(where)).close();
    const stores = await openStores(where);
    const [state] = await tablesOf(stores).read((db) =>
      db.selectFrom("revocation_state").selectAll().execute(),
    );
    expect(state).toEqual({ one: 1, version: 0, pruned: 0 });
    await stores.close();
  });
});

describe.skipIf(postgresIsMissing)("a PostgreSQL database", () => {
  test("without tables is refused unless openStores may create them", async () => {
    const where = await postgresPlace();
    expect((await storageError(() => openStores(where))).code).toBe("store_missing");
    const made = await openStores(where, "create");
    await made.close();
    await (await openStores(where)).close();
  });

  test("keeps its tables in the schema public, even if a schema has the role's name", async () => {
    const where = await postgresPlace();
    await (await createStores(where)).close();
    const client = new pg.Client({ connectionString: where });
    await client.connect();
    await client.query("CREATE SCHEMA proviso");
    await client.end();
    const stores = await openStores(where);
    const { rows } = await tablesOf(stores).read((db) =>
      sql<{ path: string; commit: string }>`SELECT current_setting('search_path') AS path,
        current_setting('synchronous_commit') AS commit`.execute(db),
    );
    expect(rows).toEqual([{ path: "public", commit: "on" }]);
    await stores.close();
  });

  test("commits synchronously, even if synchronous_commit is off in the database's settings", async () => {
    const where = new URL(await postgresPlace());
    const setting = `ALTER DATABASE ${where.pathname.slice(1)}`;
    await administer(where.href, "CREATE SCHEMA other");
    await administer(where.href, `${setting} SET synchronous_commit = off`);
    onTestFinished(() => administer(where.href, `${setting} RESET synchronous_commit`));
    where.searchParams.set("options", "-c search_path=other");
    const stores = await openStores(where.href, "create");
    const { rows } = await tablesOf(stores).read((db) =>
      sql<{ path: string; commit: string }>`SELECT current_setting('search_path') AS path,
        current_setting('synchronous_commit') AS commit`.execute(db),
    );
    expect(rows).toEqual([{ path: "other", commit: "on" }]);
    await stores.close();
  });

  test.each(["LATIN1", "SQL_ASCII"])(
    "encoded in %s is refused before anything is stored",
    async (encoding) => {
      const url = new URL(await postgresPlace());
      const name = `${DATABASES}${encoding.toLowerCase()}`;
      const other = "TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'";
      await administer(url.href, `DROP DATABASE IF EXISTS ${name}`);
      await administer(url.href, `CREATE DATABASE ${name} ENCODING '${encoding}' ${other}`);
      onTestFinished(() => administer(url.href, `DROP DATABASE ${name} WITH (FORCE)`));
      const where = Object.assign(new URL(url), { pathname: `/${name}` }).href;
      const error = await storageError(() => createStores(where));
      expect(error.code).toBe("store_encoding");
      expect(error.message).toContain(
        `the database cannot keep every string (its encoding is ${encoding})`,
      );
      const bench = new Bench();
      const run = await bench.run(["init", "--database", where]);
      expect([run.status, existsSync(bench.home)]).toEqual([6, false]);
      expect(run.stderr).toContain("hint: make a database with ENCODING 'UTF8', and name that");
      await administer(where, "CREATE TABLE proviso_format (one integer)");
    },
  );

  test("that is read-only can be read, and a write fails with store_read_only", async () => {
    const where = await postgresPlace();
    await (await createStores(where)).close();
    const name = new URL(where).pathname.slice(1);
    await administer(where, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    onTestFinished(async () => {
      const client = new pg.Client({ connectionString: where });
      await client.connect();
      await client.query("SET default_transaction_read_only = off");
      await client.query(`ALTER DATABASE ${name} RESET ALL`);
      await client.end();
    });
    const stores = await openStores(where);
    const revocations = await openRevocations(stores);
    expect(await revocations.list()).toEqual([]);
    const entry = { kind: "key", id: "k", at: "2026-01-01T00:00:00Z" } as const;
    expect((await storageError(() => revocations.add(entry))).code).toBe("store_read_only");
    expect(await stores.problem()).toBe("store_read_only");
    await stores.close();
    expect(await stores.problem()).toBe("store_unreachable");
  });
});
