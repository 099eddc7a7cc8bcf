import { createHash } from "node:crypto";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { expect, test } from "vitest";
import { TaskQuotaError } from "../../../../src/protocols/a2a/tasks/quota.js";
import { setTaskAccess } from "../../../../src/protocols/a2a/tasks/task-access.js";
import type { StoreDatabase } from "../../../../src/stores/database.js";
import { tablesOf } from "../../../../src/stores/database.js";
import { throughStores } from "../../../support/databases.js";
import { administer } from "../../../support/postgres.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { as, newStore, opened, status, task } from "./support.js";

const LARGE = { metadata: { text: "x".repeat(1000) } };
const DONE = status(TaskState.TASK_STATE_COMPLETED, 1);

/** A trigger that ends the database connection when a transaction that removed tasks commits. */
const ENDS_AT_COMMIT = `
  CREATE FUNCTION ends() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER ends AFTER DELETE ON task
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ends();`;

throughStores((place, dialect) => {
  test("the limit on the number of a principal's tasks covers all capabilities of the principal", async () => {
    let now = 1000;
    const store = await newStore(await place(), { quota: { tasks: 2 }, clock: () => now });
    await store.save(task("a"), as("alice", ["ia"]));
    await store.save(task("b"), as("alice"));
    const third = store.save(task("c"), as("alice", ["jb"]));
    await expect(third).rejects.toThrow(TaskQuotaError);
    await expect(third).rejects.toThrow("keeps 2 tasks for a principal");
    await store.save(task("c"), as("bob"));
    await store.save(task("a", { status: DONE }), as("alice", ["ia"]));
    now = 5000;
    await store.save(task("a", { contextId: "later" }), as("alice", ["ia"]));
    expect(await store.prune(5000)).toBe(2);
    await store.save(task("d"), as("alice", ["jb"]));
  });

  if (dialect === "postgres") {
    test("tasks that prune deletes still count towards the quota if the commit of the deletion fails", async () => {
      let now = 1000;
      const where = await place();
      const store = await newStore(where, { quota: { tasks: 40 }, clock: () => now });
      const save = (id: string): Promise<void> => store.save(task(id), as("alice"));
      for (let at = 0; at < 40; at++) await save(`a${at}`);
      now = 10_000;
      await administer(where, ENDS_AT_COMMIT);
      const both = await Promise.allSettled([store.prune(5000), save("b")]);
      expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
      await administer(where, "DROP TRIGGER ends ON task");
      await expect(save("c")).rejects.toThrow(TaskQuotaError);
      expect(await store.prune(5000)).toBe(40);
      await save("c");
    });
  }

  test("the bytes of a principal's tasks and push configurations are limited", async () => {
    const store = await newStore(await place(), { quota: { bytes: 2800 } });
    const alice = as("alice");
    const config = { id: "c", tenant: "", url: "http://127.0.0.1/", token: "", taskId: "a" };
    const push = (id: string, characters: number) =>
      store.pushConfigs.save("a", alice, {
        ...config,
        id,
        token: "x".repeat(characters),
        authentication: undefined,
      });
    await store.save(task("a", LARGE), alice);
    await push("first", 800);
    await expect(store.save(task("b", LARGE), alice)).rejects.toThrow("2800 bytes of tasks");
    await expect(push("second", 800)).rejects.toThrow(TaskQuotaError);
    await expect(push("third", 9000)).rejects.toThrow("at most 8192 characters");
    await push("first", 10);
    await store.save(task("b", LARGE), alice);
    await store.save(task("c", LARGE), as("bob"));
  });

  test("the token links stored with tasks and push configurations count towards the quota of bytes", async () => {
    // The quota allows two accesses of 248 links with 128 bytes each, but not a third access.
    const { store, database } = await opened(await place(), { quota: { bytes: 92_000 } });
    const config = { id: "c", tenant: "", url: "http://127.0.0.1/", token: "", taskId: "a" };
    const push = (hops: number) =>
      store.pushConfigs.save("a", narrowed("", hops), { ...config, authentication: undefined });
    await store.save(task("a"), narrowed(""));
    await store.save(task("b"), narrowed("first"));
    expect(await rowsOf(database)).toEqual({ access: 2, link: 2 * 248 });
    await expect(store.save(task("c"), narrowed("second"))).rejects.toThrow(TaskQuotaError);
    await expect(push(30)).rejects.toThrow(TaskQuotaError);
    expect(await rowsOf(database)).toEqual({ access: 2, link: 2 * 248 });
    await store.save(task("c"), narrowed("first"));
    await push(31);
    // The configuration keeps its access, so saving it again stores no further paths.
    await push(30);
    expect(await rowsOf(database)).toEqual({ access: 2, link: 2 * 248 });
    await store.save(task("d"), as("bob"));
  });

  test("the result of a running task is stored even if the result exceeds the quota", async () => {
    const store = await newStore(await place(), { quota: { bytes: 1000 } });
    const alice = as("alice");
    await store.save(task("a"), alice);
    await store.save(task("a", { ...LARGE, status: DONE }), alice);
    const more = task("a", { metadata: { text: "x".repeat(2000) }, status: DONE });
    await expect(store.save(more, alice)).rejects.toThrow(TaskQuotaError);
    await expect(store.save(task("b"), alice)).rejects.toThrow(TaskQuotaError);
  });
});

test("openTaskStore refuses quotas that are not positive whole numbers", async () => {
  for (const quota of [{ tasks: 0 }, { bytes: 1.5 }, { bytes: Number.NaN }]) {
    const wrong = newStore(join(temporaryFolder(), "proviso.db"), { quota });
    await expect(wrong).rejects.toThrow(/^quota\.(tasks|bytes): must be a whole number/);
  }
});

/** Returns a request of alice with eight capabilities of at most 31 ids. `last` makes the 31st ids unique. */
function narrowed(last: string, hops = 31): ServerCallContext {
  const context = as("alice");
  const paths = Array.from({ length: 8 }, (_, path) =>
    Array.from({ length: hops }, (_, hop) =>
      createHash("sha256")
        .update(`${path} ${hop} ${hop === 30 ? last : ""}`)
        .digest("base64url"),
    ),
  );
  setTaskAccess(context, { principal: "alice", paths });
  return context;
}

async function rowsOf(database: StoreDatabase): Promise<{ access: number; link: number }> {
  const [access, link] = await tablesOf(database).read(async (db) => [
    await db.selectFrom("access").select("seq").execute(),
    await db.selectFrom("link").select("id").execute(),
  ]);
  return { access: access?.length ?? 0, link: link?.length ?? 0 };
}
