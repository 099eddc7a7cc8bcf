import { TaskState } from "@a2a-js/sdk";
import { beforeAll, expect, test } from "vitest";
import { TaskQuotaError } from "../../../../src/protocols/a2a/tasks/quota.js";
import { openTaskStore, type TaskStore } from "../../../../src/protocols/a2a/tasks/task-store.js";
import { createStores } from "../../../../src/stores/index.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { as, status, task } from "./support.js";

// These tasks begin and end in one step, as the tasks of calls do.

const DONE = status(TaskState.TASK_STATE_COMPLETED, 1);
const CALLS = 20;
const MOST = 100;
const calls = Array.from({ length: CALLS }, (_, at) => ({ id: `t${at}`, context: as("alice") }));
let store: TaskStore;

beforeAll(async () => {
  const database = await createStores(`${temporaryFolder()}/proviso.db`);
  store = await openTaskStore(database, { quota: { tasks: MOST } });
  return async () => {
    await store.close();
    await database.close();
  };
});

test("TaskStore begins and ends a separate task for each of many concurrent calls", async () => {
  const beginnings = await Promise.all(
    calls.map(({ id, context }) =>
      store.begin(task(id), { principal: "alice", invoker: "a", id, hash: id }, context),
    ),
  );
  expect(beginnings.every(({ begun }) => begun)).toBe(true);
  const ended = await Promise.all(
    calls.map(({ id, context }) => store.end(task(id, { status: DONE }), context)),
  );
  expect(ended).toEqual(Array(CALLS).fill(true));
  expect((await store.load("t0", as("alice")))?.status?.state).toBe(DONE.state);
});

test("TaskStore does not overwrite a cancelled task with its late result", async () => {
  const context = as("alice");
  const message = { principal: "alice", invoker: "a", id: "late", hash: "late" };
  await store.begin(task("late"), message, context);
  const cancelled = status(TaskState.TASK_STATE_CANCELED, 1);
  expect(await store.end(task("late", { status: cancelled }), as("alice"))).toBe(true);
  expect(await store.end(task("late", { status: DONE }), context)).toBe(false);
  expect((await store.load("late", as("alice")))?.status?.state).toBe(cancelled.state);
});

test("a principal can save exactly as many tasks as its quota allows, although the store does not count the tasks at each save", async () => {
  for (let made = CALLS + 1; made < MOST; made++) await store.save(task(`q${made}`), as("alice"));
  await expect(store.save(task("beyond"), as("alice"))).rejects.toThrow(TaskQuotaError);
});
