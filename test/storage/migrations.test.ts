import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../src/storage/database.js";
import type { IfMissing, Schema } from "../../src/storage/migrations.js";
import { storageError } from "../issuer/support.js";
import { onBothDatabases } from "../support/databases.js";
import { schema as FIRST, names, put, type Tables } from "./items.js";

/** The next format, with an additional column. */
const SECOND: Schema = {
  ...FIRST,
  migrations: [
    ...FIRST.migrations,
    async ({ schema, columns, run }) => {
      await schema.alterTable("item").addColumn("more", columns.text).execute();
      await run(sql`UPDATE item SET more = 'seen'`);
    },
  ],
};

onBothDatabases((place) => {
  async function opened(
    where: string,
    schema: Schema,
    ifMissing: IfMissing = "refuse",
  ): Promise<Database<Tables>> {
    const database = await openDatabase<Tables>(where, schema, ifMissing);
    onTestFinished(() => database.close());
    return database;
  }

  /** Makes a database of the first format with one row. */
  async function made(): Promise<string> {
    const where = await place();
    const database = await openDatabase<Tables>(where, FIRST, "new");
    await put(database, "a");
    await database.close();
    return where;
  }

  test("openDatabase creates the tables once if several callers open the database at once", async () => {
    const where = await place();
    const all = await Promise.all([1, 2, 3].map(() => opened(where, FIRST, "create")));
    await Promise.all(all.map((one, at) => put(one, `${at}`)));
    for (const one of all) expect(await names(one)).toEqual(["0", "1", "2"]);
  });

  test("openDatabase migrates an earlier format once, with its rows, if two callers open it at once", async () => {
    const where = await made();
    const both = await Promise.all([1, 2].map(() => opened(where, SECOND)));
    for (const one of both) {
      const rows = await one.read((db) => db.selectFrom("item").selectAll().execute());
      expect(rows).toEqual([{ name: "a", amount: 1, more: "seen" }]);
    }
  });

  test("a failed migration leaves the database unchanged", async () => {
    const where = await made();
    const broken: Schema = {
      ...FIRST,
      migrations: [
        ...FIRST.migrations,
        async ({ schema, columns }) => {
          await schema.alterTable("item").addColumn("more", columns.text).execute();
          throw new RangeError("half way");
        },
      ],
    };
    await expect(openDatabase(where, broken, "refuse")).rejects.toThrow("half way");
    const again = await opened(where, FIRST);
    const rows = await again.read((db) => db.selectFrom("item").selectAll().execute());
    expect(rows).toEqual([{ name: "a", amount: 1 }]);
  });

  test.each<[string, Schema, string]>([
    ["a newer format", { ...FIRST, migrations: [] }, "store_version"],
    ["another program", { ...SECOND, applicationId: 0x6f746872 }, "store_corrupt"],
    [
      "an unreleased format",
      { ...SECOND, applicationId: 0x6e657721, outdated: [FIRST.applicationId] },
      "store_outdated",
    ],
  ])(
    "openDatabase refuses a database of %s, and leaves the database unchanged",
    async (_whose, schema, code) => {
      const where = await made();
      for (const ifMissing of ["refuse", "create"] as const) {
        const error = await storageError(() => openDatabase(where, schema, ifMissing));
        expect(error.code).toBe(code);
      }
      expect(await names(await opened(where, FIRST))).toEqual(["a"]);
    },
  );
});
