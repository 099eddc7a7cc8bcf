import { renameSync } from "node:fs";
import { join } from "node:path";
import { A2AError } from "@a2a-js/sdk/errors";
import { expect, test } from "vitest";
import type { StorageError } from "../../../../src/storage/storage-error.js";
import { tablesOf } from "../../../../src/stores/database.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { as, newStore, opened, task } from "./support.js";

test("a missing database file is reported to onProblem, and the caller's error does not contain the file's path", async () => {
  const problems: StorageError[] = [];
  const path = join(temporaryFolder(), "proviso.db");
  const store = await newStore(path, { onProblem: (error) => problems.push(error) });
  renameSync(path, `${path}.old`);
  const error: unknown = await store.save(task("t"), as("alice")).catch((reason) => reason);
  expect(error).toBeInstanceOf(A2AError);
  expect(error).toMatchObject({ message: "the agent cannot reach its tasks now" });
  expect(problems.map(({ code }) => code)).toEqual(["store_missing"]);
  expect(error instanceof Error && error.cause).toBe(problems[0]);
});

test("a damaged task row is reported to onProblem, and is not returned as a task", async () => {
  const problems: StorageError[] = [];
  const path = join(temporaryFolder(), "proviso.db");
  const { store, database } = await opened(path, { onProblem: (error) => problems.push(error) });
  for (const [id, damage] of [
    ["a", { body: "{" }],
    ["b", { body: "null" }],
    ["c", { artifacts: "[]" }],
    ["d", { access: 99 }],
  ] as const) {
    await store.save(task(id), as("alice"));
    await tablesOf(database).write((db) =>
      db.updateTable("task").set(damage).where("id", "=", JSON.stringify(id)).execute(),
    );
    await expect(store.load(id, as("alice"))).rejects.toThrow("cannot reach its tasks");
  }
  expect(problems.map(({ code }) => code)).toEqual(Array(4).fill("store_corrupt"));
});

test("prune removes a task row whose messages column is damaged, and the records of the task's messages", async () => {
  const { store, database } = await opened(join(temporaryFolder(), "proviso.db"));
  const sent = ["a", "b"].map((id) => ({ principal: "alice", invoker: "agent", id, hash: id }));
  for (const message of sent) await store.begin(task(message.id), message, as("alice"));
  await tablesOf(database).write((db) =>
    db.updateTable("task").set({ messages: "{" }).where("id", "=", JSON.stringify("a")).execute(),
  );
  expect(await store.prune(Date.now() + 1000)).toBe(2);
  const earlier = await Promise.all(sent.map((message) => store.begunBy(message)));
  expect(earlier).toEqual([undefined, undefined]);
});

test("a task store whose database is closed refuses to load and save", async () => {
  const { store, close } = await opened(join(temporaryFolder(), "proviso.db"));
  await close();
  await expect(store.load("t", as("alice"))).rejects.toThrow("the database is closed");
  await expect(store.save(task("t"), as("alice"))).rejects.toThrow("the database is closed");
});
