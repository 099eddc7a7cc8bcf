import { setTimeout as pause } from "node:timers/promises";
import { CompiledQuery, sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Database, type DatabaseOptions, openDatabase } from "../../src/storage/database.js";
import type { Queries } from "../../src/storage/engine.js";
import { onBothDatabases } from "../support/databases.js";
import { insert, names, put, schema, type Tables } from "./items.js";

// Calls that share a transaction must not affect each other.

type Action = (db: Queries<Tables>) => Promise<unknown>;

/** Starts a query without awaiting its failure. */
function dropped(query: Promise<unknown>): void {
  query.catch(() => {});
}

onBothDatabases((place, dialect) => {
  async function opened(options: DatabaseOptions = {}): Promise<Database<Tables>> {
    const database = await openDatabase<Tables>(await place(), schema, "new", options);
    onTestFinished(() => database.close());
    await put(database, "taken");
    return database;
  }

  /**
   * Writes `action` between two correct calls.
   * @returns The names of the acknowledged calls.
   */
  async function between(database: Database<Tables>, action: Action): Promise<string[]> {
    const calls = { first: (db: Queries<Tables>) => insert(db, "first"), middle: action };
    const all = { ...calls, third: (db: Queries<Tables>) => insert(db, "third") };
    const written = Object.values(all).map((call) => database.write(call));
    const results = await Promise.allSettled(written);
    return Object.keys(all).filter((_, at) => results[at]?.status === "fulfilled");
  }

  /** Runs three more transactions, and returns the names of the rows that earlier calls left. */
  async function later(database: Database<Tables>): Promise<string[]> {
    for (const name of ["x", "y", "z"]) await put(database, name);
    return (await names(database)).filter((name) => !["taken", "x", "y", "z"].includes(name));
  }

  test("a failed call leaves no rows of queries that it did not await", async () => {
    const database = await opened();
    const acknowledged = await between(database, (db) =>
      Promise.all(
        ["m1", "taken", "m2", "taken", "m3"].map((name, at) =>
          insert(db, name).then(() => insert(db, `${name} ${at}`)),
        ),
      ),
    );
    expect(acknowledged).toEqual(["first", "third"]);
    expect(await later(database)).toEqual(["first", "third"]);
  });

  test("after a call has ended, its queries are rejected, including queries that it issued earlier", async () => {
    const database = await opened();
    let left: Queries<Tables> | undefined;
    const over = { message: "this transaction is over" };
    const [fails, uses] = await Promise.allSettled([
      database.write(async (db) => {
        left = db;
        for (const name of ["m1", "m2", "m3"]) dropped(insert(db, name));
        throw new RangeError("of the caller");
      }),
      database.write(async (db) => {
        await insert(db, "good");
        if (left === undefined) throw new TypeError("nothing was written");
        const raw = sql`INSERT INTO item VALUES ('m5', 1)`;
        const tried = await Promise.allSettled([
          insert(left, "m4"),
          raw.execute(left),
          left.withoutPlugins().deleteFrom("item").execute(),
          left.getExecutor().executeQuery(CompiledQuery.raw("INSERT INTO item VALUES ('m6', 1)")),
        ]);
        expect(tried).toMatchObject(tried.map(() => ({ reason: over })));
        // The refused queries of the other call do not affect this call.
        await raw.execute(db);
        await db.deleteFrom("item").where("name", "=", "m5").execute();
      }),
    ]);
    expect([fails, uses]).toMatchObject([
      { reason: { message: "of the caller" } },
      { status: "fulfilled" },
    ]);
    expect(await later(database)).toEqual(["good"]);
  });

  test("exactly the stored writes are acknowledged if a query fails after its call has ended", async () => {
    const database = await opened();
    const acknowledged = await between(database, async (db) => {
      await insert(db, "middle");
      dropped(insert(db, "taken"));
    });
    const kept = await later(database);
    expect(kept).toEqual(acknowledged);
    expect(kept.filter((name) => name !== "middle")).toEqual(["first", "third"]);
  });

  test("an error that one call catches does not affect the other calls of the transaction", async () => {
    const database = await opened();
    for (const [name, wrong] of [
      ["taken", 1],
      ["unbindable", Number.POSITIVE_INFINITY],
    ] as const) {
      await database.write((db) => db.deleteFrom("item").where("name", "!=", "taken").execute());
      const acknowledged = await between(database, async (db) => {
        await insert(db, "middle");
        await insert(db, name, wrong).catch(() => {});
      });
      // PostgreSQL refuses every later query of a call after one of its queries failed.
      const lost = dialect === "postgres" && name === "taken";
      expect(acknowledged).toEqual(lost ? ["first", "third"] : ["first", "middle", "third"]);
      expect(await names(database)).toEqual([...acknowledged, "taken"].sort());
    }
  });

  test("a call that streams from the shared transaction fails, and the other calls are written", async () => {
    const database = await opened();
    const misuse: Action = (db) => db.selectFrom("item").selectAll().stream().next();
    expect(await between(database, misuse)).toEqual(["first", "third"]);
    expect(await names(database)).toEqual(["first", "taken", "third"]);
  });

  describe("a callback that waits for a later write on the same database", () => {
    const tooLate = { code: "store_timeout", message: expect.stringContaining("no other write") };
    const limits = { writeTimeout: 300 };

    test("is rejected with store_timeout, and the other calls of its transaction are written", async () => {
      const database = await opened(limits);
      const all = [
        put(database, "before"),
        database.write(async (db) => {
          await insert(db, "outer");
          await put(database, "inner");
        }),
        put(database, "after"),
      ];
      const results = await Promise.allSettled(all);
      expect(results[1]).toMatchObject({ reason: tooLate });
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      // The inner write is independent, so it is not undone with the outer write.
      expect(await later(database)).toEqual(["after", "before", "inner"]);
    });

    test("is also rejected if it waits through a write of another database", async () => {
      const [here, there] = [await opened(limits), await opened()];
      const back = here.write(() => there.write(() => put(here, "round")));
      await expect(back).rejects.toMatchObject(tooLate);
      await put(here, "last");
      expect(await names(here)).toEqual(["last", "round", "taken"]);
    });

    test("is rejected if it closes the database, and the database is then closed", async () => {
      const database = await opened(limits);
      await expect(database.write(() => database.close())).rejects.toMatchObject(tooLate);
      await expect(put(database, "after")).rejects.toThrow("the database is closed");
    });

    test("runs no queries after it was rejected", async () => {
      const database = await opened(limits);
      let late: Promise<unknown> = Promise.resolve();
      const slow = database.write(async (db) => {
        late = pause(500).then(() => insert(db, "late"));
        await late;
      });
      await expect(slow).rejects.toMatchObject(tooLate);
      await expect(late).rejects.toThrow(/is (over|already committed)/);
      expect(await later(database)).toEqual([]);
    });
  });

  if (dialect === "postgres") {
    test("a call that caught the error of a failed query is rejected with that error", async () => {
      const database = await opened();
      const passing = (more: Action): Promise<unknown> =>
        database.write(async (db) => {
          await insert(db, "taken").catch(() => {});
          await more(db);
        });
      const taken = { cause: { code: "23505" } };
      await expect(passing(async () => {})).rejects.toMatchObject(taken);
      await expect(passing((db) => insert(db, "more"))).rejects.toMatchObject(taken);
      expect(await names(database)).toEqual(["taken"]);
    });
  }

  if (dialect === "sqlite") {
    test("no call is acknowledged if SQLite itself rolled the transaction back", async () => {
      const database = await opened();
      const acknowledged = await between(database, async (db) => {
        await insert(db, "m1");
        // SQLite rolls the transaction back by itself, as on a full disk.
        await sql`INSERT OR ROLLBACK INTO item VALUES ('taken', 1)`.execute(db).catch(() => {});
        await insert(db, "m2").catch(() => {});
      });
      expect(acknowledged).toEqual([]);
      expect(await later(database)).toEqual([]);
    });
  }
});
