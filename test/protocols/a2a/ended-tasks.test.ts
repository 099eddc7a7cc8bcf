import { TaskState } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { withCapability } from "../../../src/protocols/a2a/client/index.js";
import type { TaskCall, TaskRunner } from "../../../src/protocols/a2a/index.js";
import { startBeside } from "../../support/a2a-agent.js";
import { callOf, clientOf, failureOf, messageOf, rpc, taskIn } from "./callers.js";
import { AT_ONCE, agentFor, held } from "./set-up.js";

// Once a task has ended, however it ended, it has no more authority.

/** A runner that waits until `goOn` is called, then tries to use the task's authority. */
function stubborn(): { readonly runTask: TaskRunner; goOn(): void; tried(): Promise<unknown[]> } {
  let goOn = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let report = (_: unknown[]): void => {};
  const tried = new Promise<unknown[]>((resolve) => {
    report = resolve;
  });
  const runTask = async (task: TaskCall): Promise<null> => {
    await waiting;
    const called = await failureOf(task.invoke("wait", { milliseconds: 0 }));
    const passedOn = await failureOf(
      (async () => task.delegate({ expires: "2999-01-01T00:00:00Z" }))(),
    );
    report([called, passedOn]);
    return null;
  };
  return { runTask, goOn: () => goOn(), tried: () => tried };
}

test("a cancelled task can no longer call a skill or pass authority on", async () => {
  const { runTask, goOn, tried } = stubborn();
  const agent = await agentFor({ runTask });
  const { holder } = await held(agent);
  const { id } = taskIn(await holder.sendMessage({ ...messageOf(["go"]), configuration: AT_ONCE }));
  const cancelled = await holder.cancelTask({ tenant: "", id, metadata: undefined });
  expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  goOn();
  expect((await tried()).map((error) => (error instanceof Error ? error.name : error))).toEqual([
    "AbortError",
    "AbortError",
  ]);
  expect(agent.ran).toEqual([]);
});

test("a task that timed out can no longer call a skill or pass authority on", async () => {
  const { runTask, goOn, tried } = stubborn();
  const agent = await agentFor({ runTask, timeout: 100 });
  const { holder } = await held(agent);
  const task = taskIn(await holder.sendMessage(messageOf(["go"])));
  expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
  goOn();
  expect((await tried()).map((error) => (error instanceof Error ? error.name : error))).toEqual([
    "TimeoutError",
    "TimeoutError",
  ]);
  expect(agent.ran).toEqual([]);
});

test("each caller has its own limit of running tasks", async () => {
  const { runTask, goOn } = stubborn();
  const agent = await agentFor({ runTask, mostRunning: 2 });
  const { holder, token } = await held(agent);
  const send = () => holder.sendMessage({ ...messageOf(["go"]), configuration: AT_ONCE });
  await send();
  await send();
  expect(String(await failureOf(send()))).toContain("this caller has the maximum of running tasks");
  const refused = await failureOf(holder.sendMessage(callOf("wait", { milliseconds: 0 })));
  expect(String(refused)).toContain("this caller has the maximum of running tasks");
  const calendar = await withCapability(await clientOf(agent, "JSON-RPC", "calendar"), token);
  taskIn(await calendar.sendMessage(callOf("wait", { milliseconds: 0 })));
  goOn();
});

test.each(["SendMessage", "a2a/skill/invoke"])(
  "20 concurrent calls of %s run no more tasks than the limit allows",
  async (method) => {
    const agent = await agentFor({ mostRunning: 3, grace: 1 });
    const { holder, token } = await held(agent);
    // Each call runs so long that none ends before the other calls are answered, even on a slow machine.
    const given = { milliseconds: 25_000 };
    const one = async (): Promise<string> => {
      if (method === "SendMessage") {
        return holder.sendMessage(callOf("wait", given)).then(() => "done", String);
      }
      const params = { skill: "wait", arguments: given, token };
      return rpc(agent, "alice", method, params).then(({ text }) => text, String);
    };
    let busy = 0;
    const answers = Array.from({ length: 20 }, async () => {
      if (/too_many_tasks|maximum of running tasks/.test(await one())) busy += 1;
    });
    await expect.poll(() => busy).toBe(17);
    await expect.poll(() => agent.ran.length).toBe(3);
    await agent.stop();
    await Promise.all(answers);
    expect([busy, agent.ran.length]).toEqual([17, 3]);
  },
);

test("a call that has finished or was refused no longer counts towards the limit of running tasks", async () => {
  const agent = await agentFor({ mostRunning: 1 });
  const { holder, token } = await held(agent);
  const answers: string[] = [];
  for (const milliseconds of [0, "x", 0]) {
    const params = { skill: "wait", arguments: { milliseconds }, token };
    answers.push((await rpc(agent, "alice", "a2a/skill/invoke", params)).text);
    const sent = holder.sendMessage(callOf("wait", { milliseconds }));
    answers.push(JSON.stringify(await sent.catch(String)));
  }
  const ran = answers.map((answer) => answer.includes('"waited":0'));
  expect(ran).toEqual([true, true, false, false, true, true]);
});

test("a running task is FAILED once another instance opens the task store after the lease of its agent has ended", async () => {
  const { runTask, goOn } = stubborn();
  const agent = await agentFor({ runTask });
  const { holder } = await held(agent);
  const { id } = taskIn(await holder.sendMessage({ ...messageOf(["go"]), configuration: AT_ONCE }));
  await startBeside(agent);
  expect((await holder.getTask({ tenant: "", id })).status?.state).toBe(
    TaskState.TASK_STATE_FAILED,
  );
  goOn();
});

test("a task cannot be read once the policy allows its principal nothing", async () => {
  const agent = await agentFor({});
  const { holder } = await held(agent);
  const { id } = taskIn(await holder.sendMessage(callOf("wait", { milliseconds: 0 })));
  agent.policy.replace({ rules: [] });
  expect(String(await failureOf(holder.getTask({ tenant: "", id })))).toContain("policy_denied");
});
