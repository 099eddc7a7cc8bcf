import { renameSync } from "node:fs";
import Database from "libsql";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DatabaseOptions } from "../../../src/storage/database.js";
import { StorageError } from "../../../src/storage/storage-error.js";
import type { StoreDatabase } from "../../../src/stores/database.js";
import type { LedgerStore } from "../../../src/stores/ledger/ledger-store.js";
import type { LedgerProblem } from "../../../src/stores/ledger/notes.js";
import { storageError } from "../../issuer/support.js";
import { databaseAt, invocation, newLedger, newPath } from "./support.js";

/** Returns the number of committed events, as another ledger reads it. */
async function committed(database: StoreDatabase): Promise<number> {
  return (await (await newLedger({}, database)).list()).length;
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > 20_000) throw new Error("it did not come about");
    await pause(10);
  }
}

/** Takes the write lock on another connection. Returns a function that releases the lock. */
function hold(path: string): () => void {
  const other = new Database(path);
  other.exec("BEGIN IMMEDIATE");
  onTestFinished(() => void other.close());
  return () => other.exec("ROLLBACK");
}

/** Opens a ledger. Returns the ledger, its database, and the problems that it reports. */
async function troubled(
  capacity?: number,
  more: DatabaseOptions = {},
): Promise<{ ledger: LedgerStore; database: StoreDatabase; problems: LedgerProblem[] }> {
  const problems: LedgerProblem[] = [];
  const database = await databaseAt(newPath(), { patience: 100, ...more });
  const options = {
    interval: 1,
    clock: () => Date.parse("2026-01-01T00:00:00Z"),
    capacity,
    onProblem: (problem: LedgerProblem) => void problems.push(problem),
  };
  return { ledger: await newLedger(options, database), database, problems };
}

const ISSUED = {
  id: "cap_1",
  identifier: "{}",
  hop: "{}",
  principal: "alice",
  invoker: "assistant",
  expires: "2026-01-02T00:00:00Z",
};

describe("a noted event", () => {
  test("is written after the interval, and not before", async () => {
    const database = await databaseAt(newPath());
    const ledger = await newLedger({ interval: 200 }, database);
    const began = performance.now();
    ledger.note(invocation());
    await until(async () => (await committed(database)) === 1);
    expect(performance.now() - began).toBeGreaterThan(190);
    ledger.note(invocation());
    await until(async () => (await committed(database)) === 2);
  });

  test("is written before the interval ends if many events are waiting", async () => {
    const database = await databaseAt(newPath());
    const ledger = await newLedger({ interval: 60_000 }, database);
    for (let i = 0; i < 511; i++) ledger.note(invocation());
    await pause(50);
    expect(await committed(database)).toBe(0);
    for (let i = 0; i < 1000; i++) ledger.note(invocation());
    // One batch, and another batch because a full batch was waiting.
    await until(async () => (await committed(database)) === 1024);
    await ledger.flush();
    expect(await committed(database)).toBe(1511);
  });

  test("is written before a query, on flush and on close", async () => {
    const database = await databaseAt(newPath());
    const ledger = await newLedger({ interval: 60_000 }, database);
    ledger.note(invocation());
    expect(await ledger.list()).toHaveLength(1);
    expect(await committed(database)).toBe(1);
    ledger.note(invocation());
    await ledger.flush();
    expect(await committed(database)).toBe(2);
    ledger.note(invocation());
    await ledger.close();
    expect(await committed(database)).toBe(3);
  });

  test("is found by a query even if the event was noted during a write", async () => {
    const database = await databaseAt(newPath());
    const ledger = await newLedger({ interval: 60_000 }, database);
    ledger.note(invocation());
    const first = ledger.flush();
    ledger.note(invocation());
    const [second] = await Promise.all([ledger.list(), first]);
    expect(second).toHaveLength(2);
  });

  test("that is invalid is reported, and recorded as a gap", async () => {
    const { ledger, database, problems } = await troubled();
    ledger.note(invocation());
    ledger.note({ ...invocation(), at: "yesterday" });
    ledger.note(invocation());
    await until(async () => (await committed(database)) === 2);
    expect(problems.map(({ error, lost }) => [error.message.slice(0, 14), lost])).toEqual([
      ["at must be a t", 1],
    ]);
    const now = "2026-01-01T00:00:00Z";
    expect(await ledger.gaps()).toEqual([{ from: now, until: now, lost: 1 }]);
  });
});

describe("while the database cannot be written", () => {
  test("notes wait, the problem is reported once, and all notes are written later", async () => {
    const { ledger, database, problems } = await troubled();
    const release = hold(database.name);
    ledger.note(invocation());
    await until(() => problems.length > 0);
    expect(ledger.problem).toMatchObject({ code: "store_locked" });
    expect(problems[0]).toMatchObject({ waiting: 1, lost: 0 });
    for (let i = 0; i < 2000; i++) ledger.note(invocation());
    await pause(1200);
    expect(problems).toHaveLength(1);
    release();
    await until(async () => (await committed(database)) === 2001);
    expect(ledger.problem).toBeUndefined();
    expect(await ledger.gaps()).toEqual([]);
  });

  test("the event loop is not blocked", async () => {
    /** Returns how often other code runs while a note waits for the database. */
    const turns = async (): Promise<number> => {
      const { ledger, database, problems } = await troubled(undefined, { patience: 1000 });
      const release = hold(database.name);
      ledger.note(invocation());
      let count = 0;
      for (; problems.length === 0; count++) await pause(1);
      release();
      return count;
    };
    // Repeated, since a pause of this process looks like a blocked event loop.
    await expect.poll(turns).toBeGreaterThan(20);
  });

  test("notes beyond the capacity are dropped, and recorded as a gap", async () => {
    const { ledger, database, problems } = await troubled(10);
    const release = hold(database.name);
    for (let i = 0; i < 15; i++) ledger.note(invocation({ purpose: String(i) }));
    await until(() => problems.length > 0);
    expect(problems[0]).toMatchObject({ waiting: 10, lost: 5 });
    ledger.note(invocation());
    release();
    const kept = (await ledger.list()).map(({ purpose }) => purpose);
    expect(kept).toEqual(Array.from({ length: 10 }, (_, i) => String(i)));
    const now = "2026-01-01T00:00:00Z";
    expect(await ledger.gaps()).toEqual([{ from: now, until: now, lost: 6 }]);
    ledger.note(invocation());
    await ledger.flush();
    expect(await ledger.gaps()).toHaveLength(1);
    expect(await (await newLedger({}, database)).gaps()).toEqual(await ledger.gaps());
  });

  test("commit, list and flush fail, and leave nothing half written", async () => {
    const { ledger, database } = await troubled();
    const release = hold(database.name);
    ledger.note(invocation());
    const uses = [
      () => ledger.commit(invocation({ kind: "issuance" }), [ISSUED]),
      () => ledger.list(),
      () => ledger.flush(),
    ];
    for (const use of uses) expect((await storageError(use)).code).toBe("store_locked");
    release();
    expect(await ledger.list()).toHaveLength(1);
    expect(await ledger.issued("cap_1")).toBeUndefined();
    await ledger.commit(invocation({ kind: "issuance" }), [ISSUED]);
    expect(await ledger.issued("cap_1")).toEqual(ISSUED);
  });

  test("because another file has its path, nothing is written to either file", async () => {
    const { ledger, database, problems } = await troubled();
    const other = await databaseAt(newPath());
    renameSync(database.name, `${database.name}.old`);
    expect((await storageError(() => ledger.commit(invocation()))).code).toBe("store_missing");
    renameSync(other.name, database.name);
    expect((await storageError(() => ledger.commit(invocation()))).code).toBe("store_replaced");
    ledger.note(invocation());
    await until(() => problems.length > 0);
    const [told] = problems;
    expect(told?.error instanceof StorageError && told.error.code).toBe("store_replaced");
    expect((await storageError(() => ledger.close())).code).toBe("store_replaced");
    expect(() => ledger.note(invocation())).toThrow("the ledger is closed");
  });

  test("because it is closed, pending notes are reported as failed, without a crash", async () => {
    const { ledger, database, problems } = await troubled();
    await database.close();
    ledger.note(invocation());
    await until(() => problems.length > 0);
    expect(problems[0]?.error.message).toBe("the database is closed");
    await expect(ledger.close()).rejects.toThrow("the database is closed");
  });
});

test("on a nearly full disk, notes wait, notes beyond the capacity are dropped, and revocations are still written", async () => {
  const { ledger, database, problems } = await troubled(10, { reserve: Number.MAX_SAFE_INTEGER });
  const issuance = storageError(() => ledger.commit(invocation({ kind: "issuance" }), [ISSUED]));
  expect((await issuance).code).toBe("store_full");
  for (let i = 0; i < 15; i++) ledger.note(invocation());
  await until(() => problems.length > 0);
  expect(problems[0]).toMatchObject({ error: { code: "store_full" }, waiting: 10, lost: 5 });
  const revocation = invocation({ kind: "revocation" });
  await ledger.commit(revocation, [], { urgent: true });
  expect((await storageError(() => ledger.list())).code).toBe("store_full");
  const clock = (): number => Date.parse("2026-01-01T00:00:00Z");
  const other = await newLedger({ clock }, database);
  expect(await other.list()).toEqual([revocation]);
  expect(await other.issued("cap_1")).toBeUndefined();
});

test("a hop whose write failed is written at the next attempt", async () => {
  const { ledger, database } = await troubled();
  const path = [{ revocationId: "rv_AAAAAAAAAAAAAAAAAAAAAA", hop: { operations: ["get"] } }];
  const release = hold(database.name);
  ledger.note(invocation({ path }));
  await storageError(() => ledger.list());
  release();
  expect((await ledger.list())[0]?.path).toEqual(path);
});
