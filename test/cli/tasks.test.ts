import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withCapability } from "../../src/protocols/a2a/client/index.js";
import { callOf, clientOf, messageOf, request, taskIn } from "../protocols/a2a/callers.js";
import { startAgent, type TestAgent } from "../support/a2a-agent.js";
import { Bench } from "./run.js";

const bench = new Bench();
let agent: TestAgent;
let database = "";
let id = "";

beforeAll(async () => {
  agent = await startAgent();
  database = join(agent.home, "proviso.db");
  for (const who of ["alice", "bob"] as const) {
    const client = await clientOf(agent, "JSON-RPC", who);
    const { token } = await request(client, { grants: ["work:do"] });
    const holder = await withCapability(client, token);
    const task = taskIn(await holder.sendMessage(callOf("wait", { milliseconds: 1 })));
    if (who === "alice") id = task.id;
    else await holder.sendMessage(messageOf(["words\u001b[31m of bob"]));
  }
  // All capabilities expire. The operator can read the tasks nevertheless.
  agent.advance(3_600_000);
});

afterAll(() => agent.remove());

test("tasks list shows the tasks of every principal, latest first, while the agent runs", async () => {
  const lines = (await bench.output("tasks", "list", "--database", database)).trim().split("\n");
  expect(lines.map((line) => /(alice|bob) via orchestrator/.exec(line)?.[1])).toEqual([
    "bob",
    "bob",
    "alice",
  ]);
  const only = await bench.output("tasks", "list", "--database", database, "--principal", "alice");
  expect(only).toMatch(
    new RegExp(`^\\S+Z {2}${id} {2}completed {2}alice via orchestrator {2}\\d+ bytes$`),
  );
  const limited = await bench.run([
    "tasks",
    "list",
    "--database",
    database,
    "--limit",
    "1",
    "--json",
  ]);
  expect(JSON.parse(limited.stdout)).toMatchObject({ tasks: [{ principal: "bob" }], more: true });
});

test("tasks show prints a task's messages, result and authority", async () => {
  const text = await bench.output("tasks", "show", id, "--database", database);
  expect(text).toContain("with     work:do wait\n");
  expect(text).toContain('caller   {"skill":"wait","arguments":{"milliseconds":1}}\n');
  expect(text).toContain('result   {"waited":1}');
  const json = JSON.parse(
    await bench.output("tasks", "show", id, "--database", database, "--json"),
  );
  expect(json).toMatchObject({
    id,
    principal: "alice",
    invoker: "orchestrator",
    state: "TASK_STATE_COMPLETED",
    uses: [{ grant: "work:do", operation: "wait", resources: [] }],
    task: { artifacts: [{ parts: [{ data: { waited: 1 } }] }] },
  });
  const all = JSON.parse(await bench.output("tasks", "list", "--database", database, "--json"));
  const [{ id: words }] = all.tasks;
  expect(await bench.output("tasks", "show", words, "--database", database)).not.toContain(
    "\u001b",
  );
});

test("tasks show refuses an unknown task; tasks list refuses a missing database and a wrong --limit", async () => {
  const missing = await bench.run(["tasks", "show", "nothing", "--database", database]);
  expect([missing.status, missing.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^proviso: there is no task "nothing"\nhint: proviso tasks list has the ids/,
    ),
  ]);
  const nowhere = await bench.run(["tasks", "list", "--database", join(agent.home, "none.db")]);
  expect(nowhere.status).toBe(6);
  const wrong = await bench.run(["tasks", "list", "--limit", "0"]);
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining("1 to 1000000")]);
});
