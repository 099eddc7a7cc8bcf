import { type ListTasksRequest, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { InMemoryTaskStore, ServerCallContext } from "@a2a-js/sdk/server";
import { describe, expect, test } from "vitest";
import { setTaskAccess, taskAccessOf } from "../../../../src/protocols/a2a/tasks/task-access.js";
import { throughStores } from "../../../support/databases.js";
import { LISTING } from "../callers.js";
import { as, newStore, opened, part, status, task } from "./support.js";

const EVERYTHING: ListTasksRequest = {
  tenant: "",
  contextId: "",
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: "",
  statusTimestampAfter: undefined,
};

test("setTaskAccess copies the access, and refuses an empty principal, path or id", () => {
  const context = new ServerCallContext();
  const path = ["rv_1"];
  setTaskAccess(context, { principal: "alice", paths: [path] });
  path.push("rv_2");
  expect(taskAccessOf(context)).toEqual({ principal: "alice", paths: [["rv_1"]] });
  const wrong = [
    { principal: "", paths: [] },
    { principal: "alice", paths: [[]] },
    { principal: "alice", paths: [["rv_1", ""]] },
  ];
  for (const access of wrong) expect(() => setTaskAccess(context, access)).toThrow(TypeError);
});

throughStores((place) => {
  describe("a task in the task store", () => {
    const rich = task("task\0-\ud800", {
      contextId: "ctx\0",
      status: status(TaskState.TASK_STATE_INPUT_REQUIRED, 7),
      artifacts: [
        {
          artifactId: "a",
          name: "n",
          description: "",
          metadata: { k: [1, null] },
          extensions: ["x"],
          parts: [
            { ...part("text\0"), metadata: { a: 1 } },
            { ...part(""), content: { $case: "raw", value: Buffer.from([0, 255, 10]) } },
            { ...part(""), content: { $case: "data", value: { deep: [{ a: "\ud800" }] } } },
            { ...part(""), content: { $case: "url", value: "https://example.com/" } },
          ],
        },
      ],
      metadata: { "": "empty", list: [true] },
    });

    test("is loaded as last saved, also after a restart", async () => {
      const path = await place();
      const { store, close } = await opened(path);
      const alice = as("alice");
      await store.save(rich, alice);
      expect(await store.load(rich.id, alice)).toEqual(rich);
      await close();
      const again = await newStore(path);
      expect(await again.load(rich.id, alice)).toEqual(rich);
      expect(await again.load("task", alice)).toBeUndefined();
      const changed = task(rich.id, { contextId: rich.contextId });
      await again.save(changed, alice);
      expect(await again.load(rich.id, alice)).toEqual(changed);
    });

    test("is copied on save and load", async () => {
      const store = await newStore(await place());
      const alice = as("alice");
      const given = task("t");
      await store.save(given, alice);
      given.metadata = { changed: true };
      const loaded = await store.load("t", alice);
      if (loaded !== undefined) loaded.contextId = "changed";
      expect(await store.load("t", alice)).toEqual(task("t"));
    });

    test("is refused if its id is empty", async () => {
      const store = await newStore(await place());
      await expect(store.save(task(""), as("alice"))).rejects.toThrow("a task must have an id");
    });
  });

  describe("a task's visibility", () => {
    // Ids are one character each: "i" is a capability's identifier, and "iab" is narrowed from "ia".
    const cases: [string, readonly string[], string, readonly string[], boolean][] = [
      [
        "visible without capabilities to the same principal, if made without capabilities",
        [],
        "alice",
        [],
        true,
      ],
      ["hidden from another principal", [], "bob", [], false],
      ["hidden from a principal with a similar name", [], "alice\0", [], false],
      ["hidden with a capability, if made without one", [], "alice", ["ia"], false],
      ["hidden without a capability, if made with one", ["ia"], "alice", [], false],
      ["visible with the same token", ["iab"], "alice", ["iab"], true],
      ["visible with the token's parent", ["iab"], "alice", ["ia"], true],
      [
        "visible with the token as it was issued, before it was narrowed",
        ["iabcd"],
        "alice",
        ["ia"],
        true,
      ],
      ["hidden with a child token", ["ia"], "alice", ["iab"], false],
      ["hidden with a sibling token", ["iab"], "alice", ["iac"], false],
      ["hidden with another capability", ["ia"], "alice", ["jb"], false],
      ["hidden from another principal with the same token", ["ia"], "bob", ["ia"], false],
      ["visible with the same token beside another token", ["ia"], "alice", ["jb", "ia"], true],
      ["hidden with one of two tokens that it was made with", ["ia", "jb"], "alice", ["ia"], false],
      ["visible with both tokens that it was made with", ["ia", "jb"], "alice", ["jb", "ia"], true],
      ["visible with the parents of both tokens", ["iab", "jbc"], "alice", ["ia", "jb"], true],
      [
        "hidden with a parent of one token and a child of the other",
        ["iab", "jb"],
        "alice",
        ["ia", "jbc"],
        false,
      ],
      ["visible with one common ancestor of both tokens", ["ia", "iab"], "alice", ["ia"], true],
      ["hidden with a child of both tokens", ["ia", "iab"], "alice", ["iab"], false],
    ];

    test.each(cases)("the task is %s", async (_, made, principal, presented, visible) => {
      const store = await newStore(await place());
      const maker = as("alice", made);
      const viewer = as(principal, presented);
      // The task of another caller, which a query could confuse with the tested task.
      await store.save(task("other"), as("carol", ["xyz"]));
      await store.save(task("t"), maker);

      expect((await store.load("t", viewer))?.id).toBe(visible ? "t" : undefined);
      const listed = await store.list(EVERYTHING, viewer);
      expect(listed.tasks.map(({ id }) => id)).toEqual(visible ? ["t"] : []);
      expect(listed.totalSize).toBe(visible ? 1 : 0);

      const saving = store.save(task("t", { contextId: "theirs" }), viewer);
      if (visible) await saving;
      else await expect(saving).rejects.toThrow(TaskNotFoundError);
      expect((await store.load("t", maker))?.contextId).toBe(visible ? "theirs" : "context");
    });

    test("does not change when the holder of another token saves the task", async () => {
      const path = await place();
      const { store, close } = await opened(path);
      const child = as("alice", ["iab"]);
      await store.save(task("t"), child);
      await store.save(task("t", { contextId: "parent's" }), as("alice", ["ia"]));
      await close();
      const again = await newStore(path);
      expect((await again.load("t", child))?.contextId).toBe("parent's");
      expect(await again.load("t", as("alice", ["iac"]))).toBeUndefined();
    });

    test("is separate for each tenant", async () => {
      const store = await newStore(await place());
      await store.save(task("t"), as("alice", [], "acme"));
      expect(await store.load("t", as("alice", [], "acme"))).toBeDefined();
      expect(await store.load("t", as("alice"))).toBeUndefined();
      expect((await store.list(EVERYTHING, as("alice", [], "other"))).tasks).toEqual([]);
      await expect(store.save(task("t"), as("alice"))).rejects.toThrow(TaskNotFoundError);
    });

    test("cannot be decided without the request's task access: every operation is refused", async () => {
      const store = await newStore(await place());
      await store.save(task("t"), as("alice"));
      const unknown = new ServerCallContext();
      const copy = new ServerCallContext();
      for (const [key, value] of as("alice").state) copy.state.set(key, value);
      for (const context of [unknown, copy]) {
        const message = "it is not known on whose authority";
        await expect(store.load("t", context)).rejects.toThrow(message);
        await expect(store.list(EVERYTHING, context)).rejects.toThrow(message);
        await expect(store.save(task("new"), context)).rejects.toThrow(message);
        await expect(store.pushConfigs.load("t", context)).rejects.toThrow(message);
      }
    });
  });

  describe("a list of tasks", () => {
    const alice = as("alice", ["ia"]);
    const states = [
      TaskState.TASK_STATE_WORKING,
      TaskState.TASK_STATE_COMPLETED,
      TaskState.TASK_STATE_INPUT_REQUIRED,
    ];
    /**
     * Tasks whose order is hard to get right: some have equal timestamps, some have no timestamp, one has no
     * status.
     */
    const tasks = Array.from({ length: 23 }, (_, i) => {
      const state = states[i % 3] ?? TaskState.TASK_STATE_WORKING;
      const at = status(state, (i * 7) % 10);
      const { artifactId, ...rest } = { artifactId: `a${i}`, name: "", description: "" };
      const artifacts = [{ artifactId, ...rest, metadata: undefined, extensions: [], parts: [] }];
      return task(`t${String(i).padStart(2, "0")}`, {
        contextId: i % 2 === 0 ? "even" : "odd",
        artifacts,
        status: i === 20 ? undefined : i > 17 ? { ...at, timestamp: undefined } : at,
      });
    });

    const queries: [string, Partial<ListTasksRequest>][] = [
      ["of everything", {}],
      ["of a context", { contextId: "odd" }],
      ["of a state", { status: TaskState.TASK_STATE_COMPLETED }],
      ["after a time", { statusTimestampAfter: "2026-01-01T00:00:05Z" }],
      ["after a time in another zone", { statusTimestampAfter: "2026-01-01T02:00:05.000+02:00" }],
      ["after a time long ago", { statusTimestampAfter: "0001-01-01T00:00:00Z" }],
      [
        "of a context and a state, after a time",
        { contextId: "even", status: states[0] ?? 0, statusTimestampAfter: "2026-01-01T00:00:00Z" },
      ],
      ["of an unknown context", { contextId: "none" }],
      ["with artifacts", { includeArtifacts: true }],
    ];
    test.each(queries)(
      "has the same pages as a list in the SDK's own store: %s",
      async (_, query) => {
        const ours = await newStore(await place());
        const theirs = new InMemoryTaskStore();
        for (const one of tasks) {
          await ours.save(one, alice);
          await theirs.save(one, alice);
          await ours.save(task(`${one.id}-hidden`, one), as("alice", ["ib"])).catch(() => {});
        }
        for (const pageSize of [1, 4, 22, 23, 50]) {
          const request = { ...EVERYTHING, ...query, pageSize };
          let [ourToken, theirToken] = ["", ""];
          for (let page = 0; page < 24; page++) {
            const mine = await ours.list({ ...request, pageToken: ourToken }, alice);
            const other = await theirs.list({ ...request, pageToken: theirToken }, alice);
            expect(mine.tasks).toEqual(other.tasks);
            expect([mine.totalSize, mine.pageSize]).toEqual([other.totalSize, other.pageSize]);
            expect(mine.nextPageToken === "").toBe(other.nextPageToken === "");
            [ourToken, theirToken] = [mine.nextPageToken, other.nextPageToken];
            if (ourToken === "") break;
          }
          expect(ourToken).toBe("");
        }
      },
    );

    test("has each task once, even if tasks change between two requests for pages", async () => {
      const store = await newStore(await place());
      for (const one of tasks.slice(0, 6)) await store.save(one, alice);
      const first = await store.list({ ...EVERYTHING, pageSize: 3 }, alice);
      for (const { id } of first.tasks) {
        await store.save(task(id, { status: status(TaskState.TASK_STATE_WORKING, 50) }), alice);
      }
      const rest = await store.list({ ...EVERYTHING, pageToken: first.nextPageToken }, alice);
      expect(rest.tasks).toHaveLength(3);
      const all = [...first.tasks, ...rest.tasks].map(({ id }) => id);
      expect(new Set(all).size).toBe(6);
    });

    test("with an invalid query is refused", async () => {
      const store = await newStore(await place());
      const wrong: [Partial<ListTasksRequest>, string][] = [
        [{ pageSize: 0 }, "pageSize must be between 1 and 100"],
        [{ pageSize: 101 }, "pageSize must be between 1 and 100"],
        [{ pageToken: "%" }, "pageToken must be the nextPageToken"],
        [{ pageToken: Buffer.from('[1,"a",2]').toString("base64url") }, "pageToken must be"],
        [{ pageToken: Buffer.from('["1","a"]').toString("base64url") }, "pageToken must be"],
        [{ pageToken: "W".repeat(4000) }, "pageToken must be"],
        [{ statusTimestampAfter: "yesterday" }, "statusTimestampAfter must be"],
      ];
      for (const [query, message] of wrong) {
        const listing = store.list({ ...EVERYTHING, ...query }, alice);
        await expect(listing).rejects.toThrow(RequestMalformedError);
        await expect(store.list({ ...EVERYTHING, ...query }, alice)).rejects.toThrow(message);
      }
    });

    test("with another caller's page token has no task of that caller", async () => {
      const store = await newStore(await place());
      for (const one of tasks) await store.save(one, alice);
      const { nextPageToken } = await store.list({ ...EVERYTHING, pageSize: 2 }, alice);
      const bob = as("bob", ["ja"]);
      const listed = await store.list({ ...EVERYTHING, pageToken: nextPageToken }, bob);
      expect([listed.tasks, listed.totalSize]).toEqual([[], 0]);
    });
  });

  test("prune removes the tasks that were last saved before a given time, and frees their ids", async () => {
    let now = 1000;
    const path = await place();
    const store = await newStore(path, { clock: () => now });
    const alice = as("alice", ["ia"]);
    await store.save(task("old"), alice);
    await store.save(task("kept"), alice);
    await store.save(task("bob's"), as("bob"));
    now = 2000;
    await store.save(task("kept"), alice);
    expect(await store.prune(2000)).toBe(2);
    expect(await store.load("old", alice)).toBeUndefined();
    expect(await store.load("kept", alice)).toBeDefined();
    expect(await store.prune(2001)).toBe(1);
    // An id is free again after its task is removed, so another caller may use it.
    await store.save(task("old"), as("bob"));
    expect(await store.load("old", alice)).toBeUndefined();
  });

  test("pruning a task also removes the records of the messages that the task was begun or continued with", async () => {
    let now = 1000;
    const store = await newStore(await place(), { clock: () => now });
    const sent = ["first", "second"].map((id) => ({
      principal: "alice",
      invoker: "a",
      id,
      hash: id,
    }));
    for (const message of sent) {
      const context = as("alice");
      expect(await store.begin(task("t"), message, context)).toEqual({ begun: true });
      const waits = status(TaskState.TASK_STATE_INPUT_REQUIRED, 1);
      expect(await store.end(task("t", { status: waits }), context)).toBe(true);
    }
    const earlier = () => Promise.all(sent.map((message) => store.begunBy(message)));
    expect(await earlier()).toEqual(Array(2).fill({ task: "t", same: true }));
    now = 2000;
    expect(await store.prune(2000)).toBe(1);
    expect(await earlier()).toEqual([undefined, undefined]);
  });

  test("TaskStore.list ends a page of tasks before the page becomes too large, and continues on the next page", async () => {
    const store = await newStore(await place());
    const text = "x".repeat(400_000);
    for (const id of ["a", "b", "c", "d"]) {
      await store.save(task(id, { metadata: { text } }), as("alice"));
    }
    const seen: string[] = [];
    let pageToken = "";
    for (let pages = 0; pages < 10; pages++) {
      const page = await store.list({ ...LISTING, pageToken }, as("alice"));
      expect(page.tasks.length).toBeLessThanOrEqual(2);
      expect(page.totalSize).toBe(4);
      seen.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    expect(seen.sort()).toEqual(["a", "b", "c", "d"]);
  });
});
