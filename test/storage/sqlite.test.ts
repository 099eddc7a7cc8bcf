import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import Database from "libsql";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/storage/database.js";
import type { Schema } from "../../src/storage/migrations.js";
import { withPatience } from "../../src/storage/sqlite-file.js";
import { StorageError } from "../../src/storage/storage-error.js";
import { namesIn, posix, storageError } from "../issuer/support.js";
import { childProgram } from "../support/children.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Tests faults that only a file can have, and faults of libsql under Kysely: a boolean ends the process, a
// plain BEGIN fails under contention, and a migration is not one transaction.

interface Tables {
  item: { name: string; amount: number | null };
}

const make: Schema["migrations"][number] = async ({ schema, columns }) => {
  await schema
    .createTable("item")
    .addColumn("name", columns.text, (column) => column.primaryKey())
    .addColumn("amount", columns.integer)
    .execute();
};
const FIRST: Schema = { applicationId: 0x74657374, outdated: [0x6f6c6421], migrations: [make] };
/** The next format, with an additional column. */
const SECOND: Schema = {
  ...FIRST,
  migrations: [
    make,
    async ({ schema, columns, run }) => {
      await schema.alterTable("item").addColumn("more", columns.text).execute();
      await run(sql`UPDATE item SET more = 'seen'`);
    },
  ],
};

async function opened(schema: Schema = FIRST) {
  const path = join(temporaryFolder(), "proviso.db");
  const database = await openDatabase<Tables>(path, schema, "new");
  onTestFinished(() => database.close());
  return { path, database };
}

/** Opens a connection to the file, as another program would. */
function other(path: string): Database.Database {
  const connection = new Database(path);
  onTestFinished(() => void connection.close());
  return connection;
}

describe("a bound value", () => {
  test("that would crash libsql is converted or refused", async () => {
    const { database } = await opened();
    const put = (name: unknown, amount: unknown): Promise<unknown> =>
      database.write((db) =>
        db
          .insertInto("item")
          .values({ name: name as string, amount: amount as number })
          .execute(),
      );
    await put("true", true);
    await put("null", null);
    for (const wrong of [1n, Number.NaN, Infinity, {}, [], new Date(), Symbol("x")]) {
      await expect(put("x", wrong)).rejects.toThrow(TypeError);
    }
    for (const wrong of ["a\0b", "\ud800"]) await expect(put(wrong, 1)).rejects.toThrow(/as JSON/);
    const rows = await database.read((db) => db.selectFrom("item").selectAll().execute());
    expect(rows).toEqual([
      { name: "true", amount: 1 },
      { name: "null", amount: null },
    ]);
    const found = await database.read((db) =>
      db
        .selectFrom("item")
        .select("name")
        .where("amount", "=", true as unknown as number)
        .execute(),
    );
    expect(found).toEqual([{ name: "true" }]);
  });
});

describe("concurrent writers", () => {
  test("that read first wait for each other, and lose no update", async () => {
    const { path, database } = await opened();
    await database.write((db) => db.insertInto("item").values({ name: "n", amount: 0 }).execute());
    const second = await openDatabase<Tables>(path, FIRST, "refuse");
    onTestFinished(() => second.close());
    const add = (one: typeof database): Promise<void> =>
      one.write(async (db) => {
        const { amount } = await db.selectFrom("item").select("amount").executeTakeFirstOrThrow();
        await db
          .updateTable("item")
          .set({ amount: (amount ?? 0) + 1 })
          .execute();
      });
    await Promise.all(Array.from({ length: 40 }, (_, at) => add(at % 2 === 0 ? database : second)));
    const rows = await database.read((db) => db.selectFrom("item").selectAll().execute());
    expect(rows).toEqual([{ name: "n", amount: 40 }]);
  });

  test("fail with store_locked if the lock is held too long, and do not block the event loop", async () => {
    const { path, database } = await opened();
    const holder = other(path);
    holder.exec("BEGIN IMMEDIATE");
    const turns = async (): Promise<number> => {
      let count = 0;
      const timer = setInterval(() => {
        count += 1;
      }, 10);
      const error = await storageError(() =>
        database.write((db) => db.insertInto("item").values({ name: "a", amount: 1 }).execute()),
      );
      clearInterval(timer);
      expect(error.code).toBe("store_locked");
      return count;
    };
    // Repeated, since a pause of this process looks like a blocked event loop.
    await expect.poll(turns).toBeGreaterThan(3);
    holder.exec("COMMIT");
    await database.write((db) => db.insertInto("item").values({ name: "a", amount: 1 }).execute());
  });

  test("that wait for the lock still wait after this process was paused", async () => {
    const path = join(temporaryFolder(), "proviso.db");
    const database = await openDatabase<Tables>(path, FIRST, "new", { patience: 300 });
    onTestFinished(() => database.close());
    const holder = other(path);
    holder.exec("BEGIN IMMEDIATE");
    const written = database.write((db) =>
      db.insertInto("item").values({ name: "a", amount: 1 }).execute(),
    );
    await sleep(50);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    await sleep(20);
    holder.exec("COMMIT");
    await written;
  });
});

test("attempts that each take long count towards the time that a writer waits for a lock", async () => {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let attempts = 0;
  const locked = withPatience(1000, () => {
    attempts++;
    Atomics.wait(cell, 0, 0, 250);
    throw new StorageError("store_locked", "proviso.db");
  });
  expect((await storageError(() => locked)).code).toBe("store_locked");
  expect(attempts).toBe(5);
});

describe("a database file that disappears during a write", () => {
  const write = (database: Awaited<ReturnType<typeof opened>>["database"], during: () => void) =>
    database.write(async (db) => {
      await db.insertInto("item").values({ name: "lost", amount: 1 }).execute();
      during();
    });

  test("makes the write fail if no file is in its place", async () => {
    const { path, database } = await opened();
    const error = await storageError(() => write(database, () => renameSync(path, `${path}.away`)));
    expect(error.code).toBe("store_missing");
  });

  test("makes the write fail if another file is in its place", async () => {
    const { path, database } = await opened();
    const spare = await opened();
    await spare.database.close();
    const error = await storageError(() => write(database, () => renameSync(spare.path, path)));
    expect(error.code).toBe("store_replaced");
    const present = await openDatabase<Tables>(path, FIRST, "refuse");
    onTestFinished(() => present.close());
    expect(await present.read((db) => db.selectFrom("item").selectAll().execute())).toEqual([]);
  });
});

describe("the database file", () => {
  test.runIf(posix)("has mode 0600, and is refused with another mode", async () => {
    const { path, database } = await opened();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await database.close();
    chmodSync(path, 0o640);
    expect((await storageError(() => openDatabase(path, FIRST, "refuse"))).code).toBe(
      "store_exposed",
    );
  });

  test("is refused if it is empty, belongs to another program, or has an older or newer format", async () => {
    const { path, database } = await opened(SECOND);
    await database.close();
    const open = (file: string): Promise<unknown> =>
      storageError(() => openDatabase(file, FIRST, "create")).then(({ code }) => code);
    expect(await open(path)).toBe("store_version");
    const folder = temporaryFolder();
    const at = (name: string): string => join(folder, name);
    writeFileSync(at("empty.db"), "", { mode: 0o600 });
    writeFileSync(at("text.db"), "not a database ".repeat(100), { mode: 0o600 });
    const made = (name: string, text: string): void => {
      const connection = new Database(at(name));
      connection.exec(text);
      connection.close();
      chmodSync(at(name), 0o600);
    };
    made("foreign.db", "CREATE TABLE item (name)");
    made("old.db", "CREATE TABLE item (name); PRAGMA application_id = 0x6f6c6421");
    made("blank.db", "CREATE TABLE item (name); PRAGMA application_id = 0x74657374");
    expect(await open(at("empty.db"))).toBe("store_corrupt");
    expect(await open(at("text.db"))).toBe("store_corrupt");
    expect(await open(at("foreign.db"))).toBe("store_corrupt");
    expect(await open(at("old.db"))).toBe("store_outdated");
    expect(await open(at("blank.db"))).toBe("store_corrupt");
  });

  test.each([
    ["another program", "0", "store_corrupt"],
    ["an older proviso", "0x6f6c6421", "store_outdated"],
  ])("of %s is refused, and left unchanged with its log", async (_, id, code) => {
    const folder = temporaryFolder();
    const owner = new Database(join(folder, "owner.db"));
    owner.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${id}`);
    owner.exec("CREATE TABLE item (name); PRAGMA wal_checkpoint");
    owner.exec("INSERT INTO item VALUES ('a'), ('b')");
    // The files that a crash of their owner would leave.
    const path = join(folder, "left.db");
    for (const end of ["", "-wal"]) copyFileSync(join(folder, `owner.db${end}`), `${path}${end}`);
    owner.close();
    chmodSync(path, 0o600);
    const content = (): unknown => ["", "-wal"].map((end) => readFileSync(`${path}${end}`, "hex"));
    const before = content();
    const program = childProgram("storage", "open-refused");
    const run = spawnSync(process.execPath, [program, path], { encoding: "utf8" });
    expect(run.stdout).toBe(code);
    expect(content()).toEqual(before);
    expect(readdirSync(folder).filter((name) => name.startsWith("left"))).toEqual([
      "left.db",
      "left.db-wal",
    ]);
  });

  test("is created once by concurrent callers, and never overwrites another file", async () => {
    const path = join(temporaryFolder(), "proviso.db");
    const all = await Promise.all(
      Array.from({ length: 5 }, () => openDatabase<Tables>(path, FIRST, "create")),
    );
    await Promise.all(
      all.map((one, at) =>
        one.write((db) =>
          db
            .insertInto("item")
            .values({ name: `${at}`, amount: at })
            .execute(),
        ),
      ),
    );
    const rows = await all[0]?.read((db) => db.selectFrom("item").selectAll().execute());
    expect(rows).toHaveLength(5);
    expect((await storageError(() => openDatabase(path, FIRST, "new"))).code).toBe("store_exists");
    await Promise.all(all.map((one) => one.close()));
    expect(namesIn(join(path, ".."))).toEqual(["proviso.db"]);
  });

  test.each(["the file", "its log"])("cannot be written once %s is gone", async (which) => {
    const { path, database } = await opened();
    const put = (name: string): Promise<unknown> =>
      database.write((db) => db.insertInto("item").values({ name, amount: 1 }).execute());
    await put("a");
    if (which === "the file") renameSync(path, `${path}.moved`);
    else rmSync(`${path}-wal`);
    expect((await storageError(() => put("b"))).code).toMatch(/^store_(missing|replaced)$/);
  });

  test("has a reserve of disk space that only urgent writes may use", async () => {
    const path = join(temporaryFolder(), "proviso.db");
    const database = await openDatabase<Tables>(path, FIRST, "new", { reserve: 2 ** 52 });
    onTestFinished(() => database.close());
    const put = (name: string, urgent: boolean): Promise<unknown> =>
      database.write((db) => db.insertInto("item").values({ name, amount: 1 }).execute(), {
        urgent,
      });
    const [plain, urgent] = await Promise.allSettled([put("a", false), put("b", true)]);
    expect(plain).toMatchObject({ status: "rejected", reason: { code: "store_full" } });
    expect(urgent.status).toBe("fulfilled");
    expect(await database.hasRoom()).toBe(false);
    const rows = await database.read((db) => db.selectFrom("item").select("name").execute());
    expect(rows).toEqual([{ name: "b" }]);
  });
});

describe("a migration", () => {
  test("that is killed half-way is run again by the next process", async () => {
    const { path, database } = await opened();
    await database.close();
    const child = childProgram("storage", "migrate");
    const marker = `${path}.halfway`;
    const killed = spawn(process.execPath, [child, path, marker], { stdio: "ignore" });
    while (!existsSync(marker)) await new Promise((resolve) => setTimeout(resolve, 10));
    const ended = new Promise((resolve) => killed.once("exit", resolve));
    killed.kill("SIGKILL");
    await ended;
    rmSync(marker);
    const next = await openDatabase<Tables>(path, SECOND, "refuse");
    expect(await next.read((db) => db.selectFrom("item").selectAll().execute())).toEqual([]);
    await next.close();
    expect(namesIn(join(path, ".."))).toEqual(["proviso.db"]);
  });
});
