import { setTimeout as pause } from "node:timers/promises";
import { TaskState } from "@a2a-js/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { openTaskStore } from "../../../../src/protocols/a2a/tasks/task-store.js";
import { openStores, tablesOf } from "../../../../src/stores/database.js";
import { postgresIsMissing, postgresPlace, throughStores } from "../../../support/databases.js";
import { as, newStore, opened, status, task } from "./support.js";

const alice = as("alice");
const HOUR = 3_600_000;

throughStores((place) => {
  test("a starting instance does not change the tasks of a live instance", async () => {
    const where = await place();
    const first = await opened(where);
    await first.store.save(task("running"), alice);
    const second = await newStore(where);
    expect((await second.load("running", alice))?.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const done = task("running", { status: status(TaskState.TASK_STATE_COMPLETED, 1) });
    expect(await first.store.end(done, alice)).toBe(true);
    expect(await second.load("running", alice)).toEqual(done);
  });

  test("a starting instance fails the running tasks of an instance whose lease has ended, but not that instance's waiting tasks", async () => {
    const where = await place();
    const gone = await newStore(where);
    const waiting = task("waiting", { status: status(TaskState.TASK_STATE_INPUT_REQUIRED, 1) });
    await gone.save(task("running"), alice);
    await gone.save(waiting, alice);
    const after = await newStore(where, { clock: () => Date.now() + HOUR });
    const failed = await after.load("running", alice);
    expect(failed?.status).toMatchObject({
      state: TaskState.TASK_STATE_FAILED,
      message: {
        parts: [{ content: { value: expect.stringContaining("may have taken effect") } }],
      },
    });
    expect(await after.load("waiting", alice)).toEqual(waiting);
    // The instance was still alive, but it must not undo the failure, which others have already read.
    const done = task("running", { status: status(TaskState.TASK_STATE_COMPLETED, 1) });
    expect(await gone.end(done, alice)).toBe(false);
    expect(await after.load("running", alice)).toEqual(failed);
  });

  test("a running instance fails the running tasks of another instance when that instance's lease ends", async () => {
    const where = await place();
    const store = await newStore(where, { lease: 200 });
    const other = await opened(where);
    await other.store.save(task("running"), alice);
    await tablesOf(other.database).write((db) =>
      db
        .updateTable("instance")
        .set({ until: 1 })
        .where("until", ">", Date.now() + 5000)
        .execute(),
    );
    const state = async () => (await store.load("running", alice))?.status?.state;
    await expect.poll(state).toBe(TaskState.TASK_STATE_FAILED);
  });

  test("an instance that renews its lease late keeps its tasks", async () => {
    const where = await place();
    let now = 1_000_000;
    const clock = () => now;
    const late = await opened(where, { clock, lease: 15_000_000 });
    await late.store.save(task("running"), alice);
    now += 15_000_001;
    const database = await openStores(where, "refuse", { reserve: 0 });
    onTestFinished(() => database.close());
    const tables = tablesOf(database);
    const read = tables.read.bind(tables);
    const seen: unknown[] = [];
    vi.spyOn(tables, "read").mockImplementationOnce(async (action) => {
      const found = await read(action);
      seen.push(found);
      await tablesOf(late.database).write((db) =>
        db
          .updateTable("instance")
          .set({ until: now + 15_000_000 })
          .execute(),
      );
      return found;
    });
    const other = await openTaskStore(database, { clock });
    onTestFinished(() => other.close());
    expect(seen).toEqual([[{ id: expect.any(String) }]]);
    const done = task("running", { status: status(TaskState.TASK_STATE_COMPLETED, 1) });
    expect(await late.store.end(done, alice)).toBe(true);
    expect(await other.load("running", alice)).toEqual(done);
    const left = await read((db) => db.selectFrom("instance").selectAll().execute());
    expect(left.length).toBe(2);
  });

  test("a closing instance fails its running tasks and gives up its lease", async () => {
    const where = await place();
    const first = await opened(where);
    await first.store.save(task("running"), alice);
    await first.close();
    const second = await opened(where);
    expect((await second.store.load("running", alice))?.status?.state).toBe(
      TaskState.TASK_STATE_FAILED,
    );
    const left = await tablesOf(second.database).read((db) =>
      db.selectFrom("instance").selectAll().execute(),
    );
    expect(left.length).toBe(1);
  });

  test("if two instances get the same message at once, only one of them begins a task", async () => {
    const where = await place();
    const stores = [await newStore(where), await newStore(where)];
    const message = { principal: "alice", invoker: "agent", id: "m", hash: "h" };
    const beginnings = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((at) => stores[at % 2]?.begin(task(`t${at}`), message, alice)),
    );
    const begun = beginnings.findIndex((beginning) => beginning?.begun === true);
    for (const [at, beginning] of beginnings.entries()) {
      if (at !== begun) expect(beginning).toEqual({ begun: false, task: `t${begun}`, same: true });
    }
    expect(await stores[1]?.begunBy({ ...message, hash: "other" })).toMatchObject({ same: false });
    expect(await stores[1]?.begunBy({ ...message, invoker: "other" })).toBeUndefined();
    expect(await stores[0]?.prune(Date.now() + HOUR)).toBe(1);
    expect(await stores[1]?.begunBy(message)).toBeUndefined();
  });

  test("if two instances each get a message to one task at once, only one message continues the task", async () => {
    const where = await place();
    const stores = [await newStore(where), await newStore(where)];
    const waiting = task("t", { status: status(TaskState.TASK_STATE_INPUT_REQUIRED, 1) });
    await stores[0]?.save(waiting, alice);
    const outcomes = await Promise.allSettled(
      stores.map((store, at) =>
        store.begin(
          task("t"),
          { principal: "alice", invoker: "a", id: `m${at}`, hash: "h" },
          alice,
        ),
      ),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});

test.skipIf(postgresIsMissing)(
  "on PostgreSQL, a starting instance waits for another instance's uncommitted lease renewal",
  async () => {
    const where = await postgresPlace();
    let now = 1_000_000;
    const clock = () => now;
    const late = await opened(where, { clock, lease: 15_000_000 });
    await late.store.save(task("running"), alice);
    now += 15_000_001;
    let renewal: Promise<void> = Promise.resolve();
    await new Promise<void>((written) => {
      renewal = tablesOf(late.database).write(async (db) => {
        const until = now + 15_000_000;
        await db.updateTable("instance").set({ until }).execute();
        written();
        await pause(500);
      });
    });
    const other = await newStore(where, { clock });
    await renewal;
    expect((await other.load("running", alice))?.status?.state).toBe(TaskState.TASK_STATE_WORKING);
  },
);
