import type { Kysely } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { fixedQuery } from "../../src/storage/fixed-query.js";
import type { StoreTables } from "../../src/stores/database.js";
import { createStores, type StoreDatabase } from "../../src/stores/index.js";
import { onBothDatabases } from "../support/databases.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Queries of fixed form: in SQLite they run past Kysely's executor.

type Kept = StoreTables["instance"];

let compiled = 0;
const insert = fixedQuery<StoreTables, Kept, unknown>((db, later) => {
  compiled += 1;
  return db
    .insertInto("instance")
    .values({ id: later("id"), until: later("until") })
    .compile();
});
const select = fixedQuery<StoreTables, { readonly id: string }, Kept>((db, later) =>
  db.selectFrom("instance").selectAll().where("id", "=", later("id")).compile(),
);

async function stores(): Promise<StoreDatabase> {
  const database = await createStores(`${temporaryFolder()}/proviso.db`, { reserve: 0 });
  onTestFinished(() => database.close());
  return database;
}

test("a fixed query is compiled once for a database, and gives what Kysely gives", async () => {
  const database = await stores();
  for (const id of ["one", "two"]) {
    const { numAffectedRows } = await database.write((db) => insert(db, { id, until: 7 }));
    expect(numAffectedRows).toBe(1n);
  }
  expect(compiled).toBe(1);
  const { rows } = await database.read((db) => select(db, { id: "two" }));
  const byKysely = await database.read((db) =>
    db.selectFrom("instance").selectAll().where("id", "=", "two").execute(),
  );
  expect(rows).toEqual([{ id: "two", until: 7 }]);
  expect(rows).toEqual(byKysely);
});

onBothDatabases((place) => {
  test("a fixed query that a write has compiled runs in reads, and in further writes", async () => {
    const database = await createStores(await place());
    onTestFinished(() => database.close());
    const own = fixedQuery<StoreTables, { readonly id: string }, Kept>((db, later) =>
      db.selectFrom("instance").selectAll().where("id", "=", later("id")).compile(),
    );
    const found = async (db: Kysely<StoreTables>): Promise<string[]> =>
      (await own(db, { id: "one" })).rows.map(({ id }) => id);
    await database.write((db) =>
      db.insertInto("instance").values({ id: "one", until: 7 }).execute(),
    );
    expect(await database.write(found)).toEqual(["one"]);
    expect(await database.read(found)).toEqual(["one"]);
    expect(await database.write(found)).toEqual(["one"]);
  });
});

test("a fixed query of a call that fails is undone with it, and one after its transaction is refused", async () => {
  const database = await stores();
  let left: Kysely<StoreTables> | undefined;
  const failed = database.write(async (db) => {
    left = db;
    await insert(db, { id: "undone", until: 1 });
    throw new RangeError("it fails");
  });
  await expect(failed).rejects.toThrow(RangeError);
  if (left === undefined) throw new TypeError("nothing was written");
  await expect(insert(left, { id: "late", until: 1 })).rejects.toThrow("this transaction is over");
  for (const id of ["undone", "late"]) {
    expect((await database.read((db) => select(db, { id }))).rows).toEqual([]);
  }
});

test("a fixed query in a transaction that is over is refused while another is under way", async () => {
  const database = await stores();
  let left: Kysely<StoreTables> | undefined;
  await database.write(async (db) => {
    left = db;
  });
  await database.write(async (db) => {
    if (left === undefined) throw new TypeError("nothing was written");
    await expect(insert(left, { id: "late", until: 1 })).rejects.toThrow(
      "this transaction is over",
    );
    await insert(db, { id: "timely", until: 1 });
  });
  const kept = await database.read((db) => db.selectFrom("instance").select("id").execute());
  expect(kept).toEqual([{ id: "timely" }]);
});
