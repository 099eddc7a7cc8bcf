import { ServerCallContext } from "@a2a-js/sdk/server";
import { expect, test } from "vitest";
import type { AuthorityUse, Coverage } from "../../../src/agent/coverage.js";
import { RememberedTasks } from "../../../src/protocols/a2a/remembered-tasks.js";
import { recordUse, setTaskAccess } from "../../../src/protocols/a2a/tasks/task-access.js";

// A guard without a store remembers who made which task.

function contextOf(principal: string, tenant = "", covers?: Coverage): ServerCallContext {
  const context = new ServerCallContext(tenant === "" ? {} : { tenant });
  const paths = [[covers === undefined ? `rv_of-${principal}` : "rv_another"]];
  const more = covers === undefined ? {} : { covers };
  setTaskAccess(context, { principal, invoker: "app", paths, ...more });
  return context;
}

test("RememberedTasks keeps a caller's task when another caller makes 10,100 tasks over many tenants", async () => {
  const tasks = new RememberedTasks();
  const alice = contextOf("alice");
  tasks.note("hers", alice);
  for (let at = 0; at < 10_100; at++) tasks.note(`task-${at}`, contextOf("mallory", `t${at}`));
  expect(await tasks.sees("hers", alice)).toBe(true);
  expect(await tasks.sees("hers", contextOf("alice", "t1"))).toBe(false);
  expect(await tasks.sees("task-1", contextOf("mallory", "t1"))).toBe(false);
  expect(await tasks.sees("task-10000", contextOf("mallory", "t10000"))).toBe(true);
});

test("when 100,000 tasks are remembered, RememberedTasks forgets the oldest task of the principal with the most tasks", async () => {
  const tasks = new RememberedTasks();
  const alice = contextOf("alice");
  tasks.note("hers", alice);
  tasks.note("hers", contextOf("alice", "t1"));
  const many = Array.from({ length: 10 }, (_, at) => contextOf(`many-${at}`));
  for (let at = 0; at < 9999; at++) for (const one of many) tasks.note(`task-${at}`, one);
  const remembered = async (id: string): Promise<number> => {
    const seen = await Promise.all(many.map((one) => tasks.sees(id, one)));
    return seen.filter(Boolean).length;
  };
  for (const one of many.slice(0, 8)) tasks.note("task-9999", one);
  expect(await remembered("task-0")).toBe(10);

  // From now on, each new task displaces one. A task that is noted again is not new.
  for (const name of ["bob", "carol"]) tasks.note("own", contextOf(name));
  tasks.note("own", contextOf("carol"));
  expect(await remembered("task-0")).toBe(8);
  expect(await remembered("task-1")).toBe(10);
  expect(await tasks.sees("hers", alice)).toBe(true);
  expect(await tasks.sees("hers", contextOf("alice", "t1"))).toBe(true);
  for (const name of ["bob", "carol"]) {
    expect(await tasks.sees("own", contextOf(name))).toBe(true);
  }
});

test("RememberedTasks forgets the tasks of a principal in the order in which they were last noted", async () => {
  const tasks = new RememberedTasks();
  const alice = contextOf("alice");
  for (let at = 0; at < 10_000; at++) tasks.note(`task-${at}`, alice);
  tasks.note("task-0", alice);
  tasks.note("another", alice);
  expect(await tasks.sees("task-0", alice)).toBe(true);
  expect(await tasks.sees("task-1", alice)).toBe(false);
  expect(await tasks.sees("task-2", alice)).toBe(true);
});

test("RememberedTasks records each authority once, even if a task uses the authority in many turns", async () => {
  const tasks = new RememberedTasks();
  const use = (operation: string, ...resources: readonly string[]): AuthorityUse => ({
    grant: "desk:use",
    operation,
    resources,
  });
  for (let at = 0; at < 50; at++) {
    const context = contextOf("alice");
    recordUse(context, use("talk", "a"));
    recordUse(context, use("talk", "b", "a"));
    recordUse(context, use("write"));
    tasks.note("hers", context);
  }
  const asked: AuthorityUse[] = [];
  const covers: Coverage = async (one) => {
    asked.push(one);
    return true;
  };
  const other = contextOf("alice", "", covers);
  expect(await tasks.sees("hers", other)).toBe(false);
  expect(await tasks.sees("hers", other, async () => true)).toBe(true);
  expect(asked).toEqual([use("talk", "a", "b"), use("write")]);
});
