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
