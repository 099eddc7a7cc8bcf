import { setTimeout as pause } from "node:timers/promises";
import { CompiledQuery, type Kysely, sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../src/storage/database.js";
import type { WriteOptions } from "../../src/storage/group-commit.js";
import { onBothDatabases } from "../support/databases.js";
import { insert, names, put, schema, type Tables } from "./items.js";

// What one call may do to those that share its transaction: nothing.

type Action = (db: Kysely<Tables>) => Promise<unknown>;

const KINDS: readonly WriteOptions[] = [{ repeatable: false }, { repeatable: true }];

/** A failure that the call does not wait for. */
function dropped(query: Promise<unknown>): void {
  query.catch(() => {});
}

onBothDatabases((place, dialect) => {
  async function opened(): Promise<Database<Tables>> {
    const database = await openDatabase<Tables>(await place(), schema, "new");
    onTestFinished(() => database.close());
    await put(database, "taken");
    return database;
  }

  /** Writes `action` between two calls that do nothing wrong. @returns Which were acknowledged. */
  async function between(
    database: Database<Tables>,
    action: Action,
    options: WriteOptions,
  ): Promise<string[]> {
    const calls = { first: (db: Kysely<Tables>) => insert(db, "first"), middle: action };
    const all = { ...calls, third: (db: Kysely<Tables>) => insert(db, "third") };
    const written = Object.values(all).map((call) => database.write(call, options));
    const results = await Promise.allSettled(written);
    return Object.keys(all).filter((_, at) => results[at]?.status === "fulfilled");
  }

  /** Waits for whatever a call has left behind, in further transactions. */
  async function later(database: Database<Tables>): Promise<string[]> {
    for (const name of ["x", "y", "z"]) await put(database, name);
    return (await names(database)).filter((name) => !["taken", "x", "y", "z"].includes(name));
  }

  test.each(KINDS)(
    "of a call that fails, nothing is kept that it did not wait for: %j",
    async (options) => {
      const database = await opened();
      const acknowledged = await between(
        database,
        (db) =>
          Promise.all(
            ["m1", "taken", "m2", "taken", "m3"].map((name, at) =>
              insert(db, name).then(() => insert(db, `${name} ${at}`)),
            ),
          ),
        options,
      );
      expect(acknowledged).toEqual(["first", "third"]);
      expect(await later(database)).toEqual(["first", "third"]);
    },
  );

  test.each(KINDS)(
    "nothing of a call begins once it is over, though it has asked before: %j",
    async (options) => {
      const database = await opened();
      let left: Kysely<Tables> | undefined;
      const over = { message: "this transaction is over" };
      const [fails, uses] = await Promise.allSettled([
        database.write(async (db) => {
          left = db;
          for (const name of ["m1", "m2", "m3"]) dropped(insert(db, name));
          throw new RangeError("of the caller");
        }, options),
        database.write(async (db) => {
          await insert(db, "good");
          if (left === undefined) throw new TypeError("nothing was written");
          const raw = sql`INSERT INTO item VALUES ('m5', 1)`;
          const tried = await Promise.allSettled([
            ...[insert(left, "m4"), raw.execute(left), raw.execute(left.withoutPlugins())],
            left.executeQuery(CompiledQuery.raw("INSERT INTO item VALUES ('m6', 1)")),
          ]);
          expect(tried).toMatchObject(tried.map(() => ({ reason: over })));
          // What another call has refused is this one's own all the same.
          await raw.execute(db);
          await db.deleteFrom("item").where("name", "=", "m5").execute();
        }, options),
      ]);
      expect([fails, uses]).toMatchObject([
        { reason: { message: "of the caller" } },
        { status: "fulfilled" },
      ]);
      expect(await later(database)).toEqual(["good"]);
    },
  );

  test.each(KINDS)(
    "what fails after a call has ended is acknowledged to no call: %j",
    async (options) => {
      const database = await opened();
      const acknowledged = await between(
        database,
        async (db) => {
          await insert(db, "middle");
          dropped(insert(db, "taken"));
        },
        options,
      );
      const kept = await later(database);
      expect(kept).toEqual(acknowledged);
      if (options.repeatable === false || dialect === "sqlite") {
        expect(kept.filter((name) => name !== "middle")).toEqual(["first", "third"]);
      }
    },
  );

  test("a failure that a call passes over is no failure of others", async () => {
    const database = await opened();
    for (const [name, wrong] of [
      ["taken", 1],
      ["unbindable", Number.POSITIVE_INFINITY],
    ] as const) {
      await database.write((db) => db.deleteFrom("item").where("name", "!=", "taken").execute());
      const acknowledged = await between(
        database,
        async (db) => {
          await insert(db, "middle");
          await insert(db, name, wrong).catch(() => {});
        },
        {},
      );
      // PostgreSQL refuses whatever a call asks for after a query of it has failed there.
      const lost = dialect === "postgres" && name === "taken";
      expect(acknowledged).toEqual(lost ? ["first", "third"] : ["first", "middle", "third"]);
      expect(await names(database)).toEqual([...acknowledged, "taken"].sort());
    }
  });

  test("a call neither begins, nor ends, nor streams in the transaction that it shares", async () => {
    const database = await opened();
    for (const misuse of [
      (db) => db.startTransaction().execute(),
      (db) => db.connection().execute((one) => one.startTransaction().execute()),
      (db) => db.selectFrom("item").selectAll().stream().next(),
    ] satisfies Action[]) {
      await database.write((db) => db.deleteFrom("item").where("name", "!=", "taken").execute());
      expect(await between(database, misuse, {})).toEqual(["first", "third"]);
      expect(await names(database)).toEqual(["first", "taken", "third"]);
    }
  });

  test("a call that waits for another database is known there as within its own write", async () => {
    const [here, there] = [await opened(), await opened()];
    // The other database is busy for another call, whose group the inner write then waits for.
    const busy = there.write((db) => Promise.all([insert(db, "busy"), pause(20)]));
    const back = here.write(() => there.write(() => put(here, "round")));
    await expect(back).rejects.toThrow("a write is under way here");
    await busy;
    await put(here, "after");
    expect(await names(here)).toEqual(["after", "taken"]);
  });

  test("a database is not closed from within a write, which would wait for itself", async () => {
    const database = await opened();
    await expect(database.write(() => database.close())).rejects.toThrow(TypeError);
    await put(database, "after");
    expect(await names(database)).toEqual(["after", "taken"]);
  });

  if (dialect === "postgres") {
    test("a call that passes over a failure is refused for that failure", async () => {
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
    test.each(KINDS)(
      "nothing is kept of a transaction that SQLite has undone of its own accord: %j",
      async (options) => {
        const database = await opened();
        const acknowledged = await between(
          database,
          async (db) => {
            await insert(db, "m1");
            // As it does where the disk is full.
            await sql`INSERT OR ROLLBACK INTO item VALUES ('taken', 1)`.execute(db).catch(() => {});
            await insert(db, "m2").catch(() => {});
          },
          options,
        );
        expect(acknowledged).toEqual([]);
        expect(await later(database)).toEqual([]);
      },
    );
  }
});
