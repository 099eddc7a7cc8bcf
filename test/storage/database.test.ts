import { expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/storage/database.js";
import type { Schema } from "../../src/storage/migrations.js";
import { onBothDatabases } from "../support/databases.js";

interface Tables {
  item: { name: string; amount: number };
}

const schema: Schema = {
  applicationId: 0x74657374,
  outdated: [],
  migrations: [
    async ({ schema, columns }) => {
      await schema
        .createTable("item")
        .addColumn("name", columns.text, (column) => column.primaryKey())
        .addColumn("amount", columns.integer, (column) => column.notNull())
        .execute();
    },
  ],
};

onBothDatabases((place) => {
  async function opened(): Promise<[Database<Tables>, string]> {
    const where = await place();
    return [await openDatabase<Tables>(where, schema, "new"), where];
  }
  const names = (database: Database<Tables>): Promise<string[]> =>
    database.read(async (db) =>
      (await db.selectFrom("item").select("name").orderBy("name").execute()).map(
        ({ name }) => name,
      ),
    );
  const put = (database: Database<Tables>, name: string, amount: unknown = 1): Promise<unknown> =>
    database.write((db) =>
      db
        .insertInto("item")
        .values({ name, amount: amount as number })
        .execute(),
    );

  test("what was written is read, here and by another that opens it", async () => {
    const [database, where] = await opened();
    await Promise.all(["a", "b", "c"].map((name) => put(database, name, true)));
    expect(await names(database)).toEqual(["a", "b", "c"]);
    const other = await openDatabase<Tables>(where, schema, "refuse");
    expect(await names(other)).toEqual(["a", "b", "c"]);
    await put(other, "d");
    expect(await names(database)).toEqual(["a", "b", "c", "d"]);
    await Promise.all([other.close(), database.close()]);
  });

  test("a call that fails takes nothing of those that share its transaction", async () => {
    const [database] = await opened();
    const results = await Promise.allSettled([
      put(database, "a"),
      database.write(async (db) => {
        await db.insertInto("item").values({ name: "lost", amount: 1 }).execute();
        throw new RangeError("of the caller");
      }),
      put(database, "a"),
      put(database, "b"),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    expect(results[1]).toMatchObject({ reason: { message: "of the caller" } });
    expect(await names(database)).toEqual(["a", "b"]);
    await database.close();
  });

  test("a write within a write is misuse, and never waits for itself", async () => {
    const [database] = await opened();
    const nested = database.write(async () => put(database, "a"));
    await expect(nested).rejects.toThrow(TypeError);
    await expect(database.write(async () => names(database))).rejects.toThrow(TypeError);
    await put(database, "b");
    expect(await names(database)).toEqual(["b"]);
    await database.close();
  });
});
