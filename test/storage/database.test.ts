import { describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/storage/database.js";
import { StorageError } from "../../src/storage/storage-error.js";
import { onBothDatabases } from "../support/databases.js";
import { names, put, schema, type Tables } from "./items.js";

onBothDatabases((place) => {
  async function opened(): Promise<[Database<Tables>, string]> {
    const where = await place();
    return [await openDatabase<Tables>(where, schema, "new"), where];
  }

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

  describe("calls that may run again", () => {
    /** Writes all of these at once; each says how often it ran. */
    const together = async (
      database: Database<Tables>,
      all: readonly (readonly [name: string, repeatable: boolean])[],
    ): Promise<string[]> => {
      const runs = new Map(all.map(([name]) => [name, 0]));
      const results = await Promise.allSettled(
        all.map(([name, repeatable]) =>
          database.write(
            async (db) => {
              runs.set(name, (runs.get(name) ?? 0) + 1);
              await db.insertInto("item").values({ name, amount: 1 }).execute();
              if (name.startsWith("bad")) throw new RangeError(name);
            },
            { repeatable },
          ),
        ),
      );
      return results.map(({ status }, at) => `${status} ${[...runs.values()][at]}`);
    };

    test("run once where none fails, and twice where one does, which alone is refused", async () => {
      const [database] = await opened();
      const good = [["a", true] as const, ["b", true] as const];
      expect(await together(database, good)).toEqual(["fulfilled 1", "fulfilled 1"]);
      const some = [["c", true] as const, ["bad", true] as const, ["d", true] as const];
      // What came after the one that failed had not run before.
      const expected = ["fulfilled 2", "rejected 2", "fulfilled 1"];
      expect(await together(database, some)).toEqual(expected);
      expect(await names(database)).toEqual(["a", "b", "c", "d"]);
      await database.close();
    });

    test("run once again in the groups that follow, so that calls which fail cost others no time", async () => {
      const [database] = await opened();
      await together(database, [
        ["a", true],
        ["bad", true],
      ]);
      for (const round of ["b", "c"]) {
        const expected = ["fulfilled 1", "rejected 1", "fulfilled 1"];
        expect(
          await together(database, [
            [round, true],
            [`bad ${round}`, true],
            [`${round}${round}`, true],
          ]),
        ).toEqual(expected);
      }
      expect(await names(database)).toEqual(["a", "b", "bb", "c", "cc"]);
      await database.close();
    });

    test("one for which the database fails is not made again, and the others are", async () => {
      const [database] = await opened();
      let runs = 0;
      const results = await Promise.allSettled([
        database.write(
          async () => {
            runs += 1;
            throw new StorageError("store_locked", "the database");
          },
          { repeatable: true },
        ),
        database.write((db) => db.insertInto("item").values({ name: "a", amount: 1 }).execute(), {
          repeatable: true,
        }),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
      expect([runs, await names(database)]).toEqual([1, ["a"]]);
      await database.close();
    });

    test("never take one with them that may not", async () => {
      const [database] = await opened();
      const expected = ["fulfilled 1", "rejected 1", "fulfilled 1"];
      expect(
        await together(database, [
          ["a", false],
          ["bad", true],
          ["b", true],
        ]),
      ).toEqual(expected);
      expect(await names(database)).toEqual(["a", "b"]);
      await database.close();
    });

    test("one alone that fails is not made again", async () => {
      const [database] = await opened();
      expect(await together(database, [["bad", true]])).toEqual(["rejected 1"]);
      expect(await names(database)).toEqual([]);
      await database.close();
    });
  });

  test.for([[false], [true, true], [false, true]])(
    "nothing is acknowledged that was not written, also where a failure is swallowed: %j",
    async (all) => {
      const [database] = await opened();
      await put(database, "taken");
      const written = all.map((repeatable, at) =>
        database.write(
          async (db) => {
            const insert = (name: string): Promise<unknown> =>
              db.insertInto("item").values({ name, amount: 1 }).execute();
            await insert(`${at}`);
            if (at === all.length - 1) await insert("taken").catch(() => {});
          },
          { repeatable },
        ),
      );
      const results = await Promise.allSettled(written);
      const kept = results.flatMap(({ status }, at) => (status === "fulfilled" ? [`${at}`] : []));
      expect(await names(database)).toEqual([...kept, "taken"]);
      await put(database, "z");
      await database.close();
    },
  );

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
