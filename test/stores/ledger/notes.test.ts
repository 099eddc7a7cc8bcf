import { renameSync } from "node:fs";
import Database from "libsql";
import { describe, expect, onTestFinished, test } from "vitest";
import { StorageError } from "../../../src/storage/storage-error.js";
import type { LedgerFile } from "../../../src/stores/ledger/ledger-file.js";
import { openLedgerReadOnly } from "../../../src/stores/ledger/open-ledger.js";
import type { LedgerProblem } from "../../../src/stores/ledger/options.js";
import { storageError } from "../../issuer/support.js";
import { invocation, newLedger, newPath } from "./support.js";

/** How many events are in the file, as someone else sees it. */
async function inFile(ledger: LedgerFile): Promise<number> {
  const reader = await openLedgerReadOnly(ledger.path);
  const { length } = reader.list();
  reader.close();
  return length;
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > 10_000) throw new Error("it did not come about");
    await pause(10);
  }
}

/** Another connection that holds the lock for writing, until it is told to let go. */
function hold(path: string): () => void {
  const other = new Database(path);
  other.exec("BEGIN IMMEDIATE");
  onTestFinished(() => void other.close());
  return () => other.exec("ROLLBACK");
}

/** Problems as they are told, and a ledger that tells them. */
async function troubled(
  capacity?: number,
): Promise<{ ledger: LedgerFile; problems: LedgerProblem[] }> {
  const problems: LedgerProblem[] = [];
  const ledger = await newLedger({
    interval: 1,
    clock: () => Date.parse("2026-01-01T00:00:00Z"),
    ...(capacity === undefined ? {} : { capacity }),
    onProblem: (problem) => problems.push(problem),
  });
  return { ledger, problems };
}

describe("what was noted", () => {
  test("is written by itself, and not before its time", async () => {
    const ledger = await newLedger({ interval: 200 });
    ledger.note(invocation());
    expect(await inFile(ledger)).toBe(0);
    await until(async () => (await inFile(ledger)) === 1);
    ledger.note(invocation());
    await until(async () => (await inFile(ledger)) === 2);
  });

  test("is written sooner when it is much", async () => {
    const ledger = await newLedger({ interval: 60_000 });
    for (let i = 0; i < 511; i++) ledger.note(invocation());
    await pause(50);
    expect(await inFile(ledger)).toBe(0);
    for (let i = 0; i < 1000; i++) ledger.note(invocation());
    // One batch, then the next at each turn while there is a whole one.
    await until(async () => (await inFile(ledger)) === 1024);
    ledger.flush();
    expect(await inFile(ledger)).toBe(1511);
  });

  test("is written when it is asked for, flushed, or the ledger is closed", async () => {
    const ledger = await newLedger({ interval: 60_000 });
    ledger.note(invocation());
    expect(ledger.list()).toHaveLength(1);
    expect(await inFile(ledger)).toBe(1);
    ledger.note(invocation());
    ledger.flush();
    expect(await inFile(ledger)).toBe(2);
    ledger.note(invocation());
    ledger.close();
    expect(await inFile(ledger)).toBe(3);
  });

  test("that is no event is told, and leaves a gap", async () => {
    const { ledger, problems } = await troubled();
    ledger.note(invocation());
    ledger.note({ ...invocation(), at: "yesterday" });
    ledger.note(invocation());
    await until(async () => (await inFile(ledger)) === 2);
    expect(problems.map(({ error, lost }) => [error.message.slice(0, 14), lost])).toEqual([
      ["at must be a t", 1],
    ]);
    const now = "2026-01-01T00:00:00Z";
    expect(ledger.gaps()).toEqual([{ from: now, until: now, lost: 1 }]);
  });
});

describe("while the file can not be written", () => {
  test("notes wait, the problem is told once, and all is written when it can", async () => {
    const { ledger, problems } = await troubled();
    const release = hold(ledger.path);
    ledger.note(invocation());
    await until(() => problems.length > 0);
    expect(ledger.problem?.code).toBe("store_locked");
    expect(problems[0]).toMatchObject({ waiting: 1, lost: 0 });
    for (let i = 0; i < 2000; i++) ledger.note(invocation());
    await pause(1200);
    expect(problems).toHaveLength(1);
    release();
    await until(async () => (await inFile(ledger)) === 2001);
    expect(ledger.problem).toBeUndefined();
    expect(ledger.gaps()).toEqual([]);
  });

  test("no more than its capacity waits, and what is lost is counted in the file", async () => {
    const { ledger, problems } = await troubled(10);
    const release = hold(ledger.path);
    for (let i = 0; i < 15; i++) ledger.note(invocation({ purpose: String(i) }));
    await until(() => problems.length > 0);
    expect(problems[0]).toMatchObject({ waiting: 10, lost: 5 });
    ledger.note(invocation());
    release();
    const kept = ledger.list().map(({ purpose }) => purpose);
    expect(kept).toEqual(Array.from({ length: 10 }, (_, i) => String(i)));
    const now = "2026-01-01T00:00:00Z";
    expect(ledger.gaps()).toEqual([{ from: now, until: now, lost: 6 }]);
    ledger.note(invocation());
    ledger.flush();
    expect(ledger.gaps()).toHaveLength(1);
    const reader = await openLedgerReadOnly(ledger.path);
    expect(reader.gaps()).toEqual(ledger.gaps());
    reader.close();
  });

  test("committing, listing and flushing say so, and nothing is half done", async () => {
    const { ledger } = await troubled();
    const release = hold(ledger.path);
    ledger.note(invocation());
    const issued = {
      ...{ id: "cap_1", identifier: "{}", hop: "{}", principal: "alice", invoker: "assistant" },
      expires: "2026-01-02T00:00:00Z",
    };
    const uses = [
      () => ledger.commit(invocation({ kind: "issuance" }), [issued]),
      () => ledger.list(),
      () => ledger.flush(),
    ];
    for (const use of uses) {
      const error = await storageError(use);
      expect(error.code).toBe("store_locked");
      expect(error.message).toContain("another process is writing to the ledger");
    }
    release();
    expect(ledger.list()).toHaveLength(1);
    expect(ledger.issued("cap_1")).toBeUndefined();
    ledger.commit(invocation({ kind: "issuance" }), [issued]);
    expect(ledger.issued("cap_1")).toEqual(issued);
  });

  test("because another took its place, nothing is written anywhere", async () => {
    const { ledger, problems } = await troubled();
    const other = await newLedger({}, newPath());
    renameSync(ledger.path, `${ledger.path}.old`);
    expect((await storageError(() => ledger.commit(invocation()))).code).toBe("store_missing");
    renameSync(other.path, ledger.path);
    const error = await storageError(() => ledger.commit(invocation()));
    expect([error.code, error.message]).toEqual([
      "store_replaced",
      `${ledger.path}: another file has taken the place of the ledger`,
    ]);
    ledger.note(invocation());
    await until(() => problems.length > 0);
    const [told] = problems;
    expect(told?.error instanceof StorageError && told.error.code).toBe("store_replaced");
    expect((await storageError(() => ledger.close())).code).toBe("store_replaced");
    expect(() => ledger.note(invocation())).toThrow("the ledger is closed");
  });
});

test("a hop that was rolled back is written again", async () => {
  const { ledger } = await troubled();
  const path = [{ revocationId: "rv_AAAAAAAAAAAAAAAAAAAAAA", hop: { operations: ["get"] } }];
  const release = hold(ledger.path);
  ledger.note(invocation({ path }));
  await storageError(() => ledger.list());
  release();
  expect(ledger.list()[0]?.path).toEqual(path);
});
