import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { createStores, openStores } from "../../src/stores/database.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import { namesIn, posix, storageError } from "../issuer/support.js";
import { databaseAt, invocation, newLedger, newPath } from "./ledger/support.js";

function execute(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

describe("openStores", () => {
  test("makes a file that only its owner can read, and opens the file again", async () => {
    const path = newPath();
    await (await openStores(path, "create")).close();
    if (posix) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(namesIn(dirname(path))).toEqual(["proviso.db"]);
    await (await newLedger({}, path)).commit(invocation());
    if (posix) {
      for (const name of readdirSync(dirname(path))) {
        expect(statSync(join(dirname(path), name)).mode & 0o077).toBe(0);
      }
    }
  });

  test("called eight times at once makes one file, to which all callers write", async () => {
    const path = newPath();
    const ledgers = await Promise.all(Array.from({ length: 8 }, () => newLedger({}, path)));
    await Promise.all(
      ledgers.map(async (ledger, at) => {
        ledger.note(invocation({ principal: "noted" }));
        await ledger.commit(invocation({ principal: `writer${at}` }));
        await ledger.flush();
      }),
    );
    for (const ledger of ledgers) {
      expect(await ledger.list()).toHaveLength(16);
      expect(await ledger.list({ principal: "writer5" })).toHaveLength(1);
    }
  });

  test("opens only an existing file by default, and reads what other connections write", async () => {
    const path = newPath();
    const missing = await storageError(() => openStores(path));
    expect(missing.code).toBe("store_missing");
    expect(namesIn(dirname(path))).toEqual([]);

    const ledger = await newLedger({}, path);
    const database = await openStores(path);
    const reader = new LedgerStore(database);
    expect(await reader.list()).toEqual([]);
    await ledger.commit(invocation({ principal: "alice" }));
    expect(await reader.list({ principal: "alice" })).toEqual(await ledger.list());
    await ledger.close();
    expect(await reader.list()).toHaveLength(1);
    await database.close();
    await expect(reader.list()).rejects.toThrow("the database is closed");

    const alone = await databaseAt(path);
    expect(await new LedgerStore(alone).list()).toHaveLength(1);
  });
});

test("LedgerStore throws for wrong options", async () => {
  const database = await databaseAt(newPath());
  const wrong: [object, string][] = [
    [{ intervall: 1 }, 'options.intervall: unknown property; did you mean "interval"?'],
    [{ interval: -1 }, "interval must be 0 to 60,000 milliseconds"],
    [{ interval: Number.NaN }, "interval must be"],
    [{ capacity: 0 }, "capacity must be"],
    [{ retention: 0 }, "retention must be 1 to 36,500 whole days"],
    [{ retention: 1.5 }, "retention must be"],
  ];
  for (const [options, message] of wrong) {
    expect(() => new LedgerStore(database, options)).toThrow(message);
  }
});

describe("openStores refuses a file that it cannot use, and leaves it as it is", () => {
  const cases: [string, (path: string) => unknown, string, string][] = [
    ["an empty file", (path) => writeFileSync(path, "", { mode: 0o600 }), "store_corrupt", "empty"],
    [
      "some text",
      (path) => writeFileSync(path, "x".repeat(4096), { mode: 0o600 }),
      "store_corrupt",
      "not a",
    ],
    [
      "a database of a newer version",
      async (path) => {
        await (await createStores(path)).close();
        execute(path, "PRAGMA user_version = 1000");
      },
      "store_version",
      "newer version",
    ],
    [
      "a database that others may read",
      async (path) => {
        await (await createStores(path)).close();
        chmodSync(path, 0o640);
      },
      "store_exposed",
      "0640",
    ],
    [
      "the leftover log of a deleted database",
      (path) => writeFileSync(`${path}-wal`, "x"),
      "store_exists",
      "left of an older database",
    ],
  ];
  test.skipIf(!posix).each(cases)("for example %s", async (_, make, code, message) => {
    const path = newPath();
    await make(path);
    const before = namesIn(dirname(path));
    const error = await storageError(() => openStores(path, "create"));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(namesIn(dirname(path))).toEqual(before);
  });
});

test("openStores fails with store_unwritable in a directory that does not exist", async () => {
  const error = await storageError(() => openStores(join(newPath(), "proviso.db"), "create"));
  expect(error.code).toBe("store_unwritable");
});

test("a ledger reports a damaged row as store_corrupt instead of skipping it", async () => {
  const damage: [string, string][] = [
    ["UPDATE event SET body = '{'", "an event in it is not well formed"],
    ["UPDATE event SET body = '{\"handles\":1}'", "an event in it is not well formed"],
    ["UPDATE event SET what = 99", "an event in it is not well formed"],
    ["UPDATE event SET at = 9e15", "an event in it is not well formed"],
    ["UPDATE event SET principal = 'alice'", "an event in it is not well formed"],
    ["UPDATE hop SET hop = '{}'", "a hop in it is not well formed"],
    ["UPDATE event SET what = 'x'", "an event in it is not well formed"],
    ["UPDATE gap SET lost = 'x'", "a gap in it is not well formed"],
    ["UPDATE issued SET principal = 'a'", "a capability in it is not well formed"],
    ["DROP TABLE event", "or it is damaged"],
  ];
  for (const [sql, message] of damage) {
    const path = newPath();
    const database = await databaseAt(path);
    const ledger = await newLedger({ capacity: 1, interval: 60_000 }, database);
    const revocationId = "rv_AAAAAAAAAAAAAAAAAAAAAA";
    const hop = { operations: ["get"] };
    const event = invocation({ principal: "alice", path: [{ revocationId, hop }] });
    ledger.note(event);
    ledger.note(event);
    const issued = { id: "cap_1", identifier: "{}", hop: "{}", principal: "a", invoker: "b" };
    await ledger.commit(event, [{ ...issued, expires: "2999-01-01T00:00:00Z" }]);
    await ledger.flush();
    execute(path, sql);
    const reads = [() => ledger.list(), () => ledger.gaps(), () => ledger.issued("cap_1")];
    const results = await Promise.allSettled(reads.map((read) => read()));
    const [error, ...others] = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason] : [],
    );
    expect(error).toMatchObject({ code: "store_corrupt" });
    expect(String(error)).toContain(message);
    expect(others).toEqual([]);
  }
});
