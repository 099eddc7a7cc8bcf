import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { createStores } from "../../../src/stores/database.js";
import { openLedger, openLedgerReadOnly } from "../../../src/stores/ledger/open-ledger.js";
import { namesIn, posix, storageError } from "../../issuer/support.js";
import { invocation, newLedger, newPath } from "./support.js";

function execute(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

describe("opening", () => {
  test("makes a file that is its owner's alone, and opens it from then on", async () => {
    const path = newPath();
    (await openLedger(path)).close();
    if (posix) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(namesIn(dirname(path))).toEqual(["ledger.db"]);
    const ledger = await newLedger({}, path);
    ledger.commit(invocation());
    if (posix) {
      for (const name of readdirSync(dirname(path))) {
        expect(statSync(join(dirname(path), name)).mode & 0o077).toBe(0);
      }
    }
  });

  test("by several at once makes one file, which all of them write", async () => {
    const path = newPath();
    const ledgers = await Promise.all(Array.from({ length: 8 }, () => newLedger({}, path)));
    for (const [at, ledger] of ledgers.entries()) {
      ledger.note(invocation({ principal: "noted" }));
      ledger.commit(invocation({ principal: `writer${at}` }));
    }
    for (const ledger of ledgers) ledger.flush();
    for (const ledger of ledgers) {
      expect(ledger.list()).toHaveLength(16);
      expect(ledger.list({ principal: "writer5" })).toHaveLength(1);
    }
  });

  test("only to read needs a file, sees what others write, and writes nothing", async () => {
    const path = newPath();
    const missing = await storageError(() => openLedgerReadOnly(path));
    expect([missing.code, missing.message]).toEqual([
      "store_missing",
      `${path}: there is no ledger here`,
    ]);
    expect(namesIn(dirname(path))).toEqual([]);

    const ledger = await newLedger({}, path);
    const reader = await openLedgerReadOnly(path);
    expect(reader.list()).toEqual([]);
    ledger.commit(invocation({ principal: "alice" }));
    expect(reader.list({ principal: "alice" })).toEqual(ledger.list());
    ledger.close();
    expect(reader.list()).toHaveLength(1);
    reader.close();
    expect(() => reader.list()).toThrow("the ledger is closed");

    const alone = await openLedgerReadOnly(path);
    expect(alone.list()).toHaveLength(1);
    alone.close();
  });

  test("with wrong options makes nothing", async () => {
    const path = newPath();
    const wrong: [object, string][] = [
      [{ intervall: 1 }, 'unknown option "intervall"; there are interval'],
      [{ interval: -1 }, "interval must be 0 to 60,000 milliseconds"],
      [{ interval: Number.NaN }, "interval must be"],
      [{ capacity: 0 }, "capacity must be"],
    ];
    for (const [options, message] of wrong) {
      await expect(openLedger(path, options)).rejects.toThrow(message);
    }
    expect(namesIn(dirname(path))).toEqual([]);
  });
});

describe("what is no ledger is refused, and left as it is", () => {
  const cases: [string, (path: string) => unknown, string, string][] = [
    ["an empty file", (path) => writeFileSync(path, "", { mode: 0o600 }), "store_corrupt", "empty"],
    [
      "some text",
      (path) => writeFileSync(path, "x".repeat(4096), { mode: 0o600 }),
      "store_corrupt",
      "not a database of proviso",
    ],
    [
      "a database of the stores",
      async (path) => (await createStores(path)).close(),
      "store_corrupt",
      "something else",
    ],
    [
      "a ledger of a newer version",
      async (path) => {
        (await openLedger(path)).close();
        execute(path, "PRAGMA user_version = 2");
      },
      "store_version",
      "the ledger was made by a newer version",
    ],
    [
      "a ledger that others may write to",
      async (path) => {
        (await openLedger(path)).close();
        chmodSync(path, 0o620);
      },
      "store_exposed",
      "0620",
    ],
    [
      "what is left of a ledger that is gone",
      (path) => writeFileSync(`${path}-wal`, "x"),
      "store_exists",
      "left of an older store",
    ],
  ];
  test.skipIf(!posix).each(cases)("%s", async (_, make, code, message) => {
    const path = newPath();
    await make(path);
    const before = namesIn(dirname(path));
    const error = await storageError(() => openLedger(path));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(namesIn(dirname(path))).toEqual(before);
  });

  test("a directory that is not there", async () => {
    const error = await storageError(() => openLedger(join(newPath(), "ledger.db")));
    expect(error.code).toBe("store_unwritable");
    expect(error.message).toContain("the ledger can not be written");
  });

  test("rows that are damaged are not passed over", async () => {
    const damage: [string, string][] = [
      ["UPDATE event SET body = '{'", "an event in it is not well formed"],
      ["UPDATE event SET body = '{\"handles\":1}'", "an event in it is not well formed"],
      ["UPDATE event SET what = 99", "an event in it is not well formed"],
      ["UPDATE event SET at = 9e15", "an event in it is not well formed"],
      ["UPDATE event SET principal = 'alice'", "an event in it is not well formed"],
      ["UPDATE hop SET hop = '{}'", "a hop in it is not well formed"],
      ["DROP TABLE event", "not a ledger, or it is damaged"],
    ];
    for (const [sql, message] of damage) {
      const path = newPath();
      const ledger = await newLedger({}, path);
      const revocationId = "rv_AAAAAAAAAAAAAAAAAAAAAA";
      const hop = { operations: ["get"] };
      ledger.commit(invocation({ principal: "alice", path: [{ revocationId, hop }] }));
      execute(path, sql);
      const error = await storageError(() => ledger.list());
      expect(error.code).toBe("store_corrupt");
      expect(error.message).toContain(message);
    }
  });
});
