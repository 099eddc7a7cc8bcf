import { sql } from "kysely";
import { expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/storage/database.js";
import { storageError } from "../issuer/support.js";
import { onBothDatabases } from "../support/databases.js";
import { insert, names, put, schema, type Tables } from "./items.js";

onBothDatabases((place, dialect) => {
  async function opened(): Promise<[Database<Tables>, string]> {
    const where = await place();
    return [await openDatabase<Tables>(where, schema, "new"), where];
  }

  test("a database returns what was written, also through a second connection", async () => {
    const [database, where] = await opened();
    await Promise.all(["a", "b", "c"].map((name) => put(database, name, true)));
    expect(await names(database)).toEqual(["a", "b", "c"]);
    const other = await openDatabase<Tables>(where, schema, "refuse");
    expect(await names(other)).toEqual(["a", "b", "c"]);
    await put(other, "d");
    expect(await names(database)).toEqual(["a", "b", "c", "d"]);
    await Promise.all([other.close(), database.close()]);
  });

  test("a failing call does not undo the calls that share its transaction", async () => {
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

  test.for([1, 2])(
    "of %i grouped writes, only those that were stored are acknowledged, even if the last write catches the error of its query",
    async (count) => {
      const [database] = await opened();
      await put(database, "taken");
      const written = Array.from({ length: count }, (_, at) =>
        database.write(async (db) => {
          await insert(db, `${at}`);
          if (at === count - 1) await insert(db, "taken").catch(() => {});
        }),
      );
      const results = await Promise.allSettled(written);
      const kept = results.flatMap(({ status }, at) => (status === "fulfilled" ? [`${at}`] : []));
      expect(await names(database)).toEqual([...kept, "taken"]);
      await put(database, "z");
      await database.close();
    },
  );

  test("problem() reports a full disk until a write succeeds", async () => {
    const [database] = await opened();
    const noRoom = (): Promise<unknown> =>
      database.write(async (db) => {
        if (dialect === "postgres") {
          // The server's error for a full disk.
          await sql`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$`.execute(db);
        } else {
          await sql`PRAGMA max_page_count = 4`.execute(db);
          await insert(db, "x".repeat(100_000));
        }
      });
    expect(await database.problem()).toBeUndefined();
    expect((await storageError(noRoom)).code).toBe("store_full");
    expect(await database.problem()).toBe("store_full");
    await put(database, "a");
    expect(await database.problem()).toBeUndefined();
    expect(await names(database)).toEqual(["a"]);
    await database.close();
  });
});
