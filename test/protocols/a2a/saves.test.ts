import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TaskStore } from "../../../src/stores/tasks/task-store.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { callOf, rpc, taskIn } from "./callers.js";
import { type Held, held, presenting, userMessage } from "./set-up.js";

// What a call costs the database, counted: a task is written before its skill runs and after, and read never.

let agent: TestAgent;
let one: Held;
const spies = {
  begin: vi.spyOn(TaskStore.prototype, "begin"),
  end: vi.spyOn(TaskStore.prototype, "end"),
  save: vi.spyOn(TaskStore.prototype, "save"),
  load: vi.spyOn(TaskStore.prototype, "load"),
};
const parse = vi.spyOn(JSON, "parse");
const WAIT = { milliseconds: 1 };

beforeAll(async () => {
  agent = await startAgent();
  one = await held(agent);
});
afterAll(() => agent.remove());

function counts(): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(spies).map(([name, { mock }]) => [name, mock.calls.length]),
  );
}

test("a call is written once before its skill runs and once after, and is not read", async () => {
  for (const spy of Object.values(spies)) spy.mockClear();
  const sent = await one.holder.sendMessage(callOf("wait", WAIT));
  expect(taskIn(sent).artifacts).toHaveLength(1);
  expect(counts()).toEqual({ begin: 1, end: 1, save: 0, load: 0 });
});

test("a call's body is parsed once", async () => {
  const marker = `parsed-${crypto.randomUUID()}`;
  const message = userMessage([{ data: { skill: "wait", arguments: WAIT } }], {
    metadata: { marker },
  });
  parse.mockClear();
  await rpc(agent, "alice", "SendMessage", { message }, presenting(one.token));
  const bodies = parse.mock.calls.filter(([text]) => {
    const written = String(text);
    return written.includes(marker) && written.includes('"SendMessage"');
  });
  expect(bodies).toHaveLength(1);
});
