import { type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { attenuate, createNonce } from "../../../src/index.js";
import {
  createCapabilityClient,
  refusalOf,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import type {
  TaskAnswer,
  TaskCall,
  TaskRunner,
  TaskTurn,
} from "../../../src/protocols/a2a/index.js";
import { startBeside } from "../../support/a2a-agent.js";
import {
  callOf,
  clientOf,
  failureOf,
  messageOf,
  request,
  resultOf,
  SOME_BINDINGS,
  taskIn,
} from "./callers.js";
import { agentFor, held } from "./set-up.js";

// A runner can answer that a text message's task is rejected, or waits for the caller.

/** Returns the parts of the agent's message about a task's state. */
function said({ status }: Task): readonly Json[] {
  return (status?.message?.parts ?? []).map(({ content }) =>
    content?.$case === "text" || content?.$case === "data" ? content.value : null,
  );
}

/** A runner that pays the person named in the message. If the task may not pay, the runner rejects the task. */
const payer: TaskRunner = async (task) => {
  const outcome = await task.invoke("pay", { amount: 1, to: task.text });
  if (outcome.ok) return outcome.result;
  const denials = outcome.denials.map(({ code }) => code);
  return task.answer("rejected", "paying is not allowed to this task", { denials });
};

const asking: TaskRunner = async ({ earlier, text, answer }) =>
  text.startsWith("to ")
    ? { text, earlier: earlier.map(({ from, text: words }) => `${from}: ${words}`) }
    : answer(text.includes("password") ? "auth-required" : "input-required", "to whom?");

describe.each(SOME_BINDINGS)("a runner's answer to a text message over %s", (binding) => {
  test("can reject the task with the denials of a refused skill call", async () => {
    const agent = await agentFor({ runTask: payer });
    const { holder } = await held(agent, "work:do", binding);
    const task = taskIn(await holder.sendMessage(messageOf(["bob"])));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_REJECTED);
    expect(said(task)).toEqual([
      "paying is not allowed to this task",
      { denials: ["grant_denied", "operation_denied"] },
    ]);
    expect(task.artifacts).toEqual([]);
    const got = await holder.getTask({ tenant: "", id: task.id });
    expect(got.status).toEqual(task.status);
    // The task is over, so it accepts no message.
    const more = messageOf(["please"], { taskId: task.id });
    expect(String(await failureOf(holder.sendMessage(more)))).toContain("terminal state");
    expect(agent.ran).toEqual([]);
  });

  test.each([
    ["input-required", "pay", TaskState.TASK_STATE_INPUT_REQUIRED],
    ["auth-required", "my password is lost", TaskState.TASK_STATE_AUTH_REQUIRED],
  ])(
    "can be %s, and the next message that names the task continues the task",
    async (_, words, state) => {
      const agent = await agentFor({ runTask: asking });
      const { holder } = await held(agent, "work:do", binding);
      const asked = taskIn(await holder.sendMessage(messageOf([words])));
      expect(asked.status?.state).toBe(state);
      expect(said(asked)).toEqual(["to whom?"]);
      expect(asked.artifacts).toEqual([]);

      const again = taskIn(await holder.sendMessage(messageOf(["now"], { taskId: asked.id })));
      expect(again).toMatchObject({ id: asked.id, contextId: asked.contextId });
      expect(again.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const { id: taskId, contextId } = asked;
      const done = taskIn(await holder.sendMessage(messageOf(["to bob"], { taskId, contextId })));
      expect(done).toMatchObject({ id: asked.id, contextId: asked.contextId });
      expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(resultOf(done)).toEqual({
        text: "to bob",
        earlier: [`caller: ${words}`, "agent: to whom?", "caller: now", "agent: to whom?"],
      });
    },
  );

  test("ends the stream if the task waits, and the stream of the next message continues the task", async () => {
    const agent = await agentFor({ runTask: asking });
    const { holder } = await held(agent, "work:do", binding);
    for (const words of ["pay", "my password is lost"]) {
      const states: unknown[] = [];
      let taskId = "";
      for (const message of [words, "to bob"]) {
        const stream = holder.sendMessageStream(messageOf([message], { taskId }));
        for await (const { payload } of stream) {
          if (payload?.$case === "task") taskId = payload.value.id;
          if (payload?.$case === "statusUpdate") states.push(payload.value.status?.state);
        }
      }
      expect(states).toEqual([
        words === "pay" ? TaskState.TASK_STATE_INPUT_REQUIRED : TaskState.TASK_STATE_AUTH_REQUIRED,
        TaskState.TASK_STATE_COMPLETED,
      ]);
    }
  });
});

test("a message that continues a task is checked like the task's first message", async () => {
  const turns: (readonly TaskTurn[])[] = [];
  const runTask = async (task: TaskCall): Promise<TaskAnswer> => {
    turns.push(task.earlier);
    return task.answer("input-required", "more?");
  };
  const agent = await agentFor({ runTask });
  const { alice, holder, token } = await held(agent);
  const { id: taskId, contextId } = taskIn(await holder.sendMessage(messageOf(["go"])));
  const codeOf = async (client: Client): Promise<string> => {
    const failure = await failureOf(client.sendMessage(messageOf(["on"], { taskId })));
    return refusalOf(failure)?.code ?? String(failure);
  };

  // The task accepts no message from another caller, with another capability, or without a capability.
  const bob = await clientOf(agent, "JSON-RPC", "bob");
  const bobs = await withCapability(bob, (await request(bob, { grants: ["work:do"] })).token);
  expect(await codeOf(bobs)).toContain("Task not found");
  const other = await request(alice, { grants: ["work:do"] });
  expect(await codeOf(await withCapability(alice, other.token))).toContain("Task not found");
  expect(await codeOf(await withCapability(alice, token.slice(0, -8)))).toBe("token_truncated");
  const bare = { serviceParameters: { "A2A-Version": "1.0" } };
  const missing = await failureOf(alice.transport.sendMessage(messageOf(["on"], { taskId }), bare));
  expect(refusalOf(missing)?.code).toBe("capability_missing");
  const elsewhere = messageOf(["on"], { taskId, contextId: `${contextId}x` });
  expect(String(await failureOf(holder.sendMessage(elsewhere)))).toContain("contextId");
  expect(turns).toHaveLength(1);

  const narrowed = attenuate(token, { nonce: createNonce() });
  if (!narrowed.ok) throw new Error("it could not be narrowed");
  const child = await withCapability(alice, narrowed.token);
  expect(await codeOf(child)).toContain("Task not found");
  expect(turns).toHaveLength(1);

  // The agent checks a skill call in the task like every other call. Its refusal does not change the task.
  const pay = callOf("pay", { amount: 1, to: "bob" }, { taskId });
  expect(refusalOf(await failureOf(holder.sendMessage(pay)))?.code).toBe("grant_denied");
  const wait = callOf("wait", { milliseconds: 0 }, { taskId });
  const done = taskIn(await holder.sendMessage(wait));
  expect(done).toMatchObject({ id: taskId, status: { state: TaskState.TASK_STATE_COMPLETED } });
  expect(agent.ran).toEqual(["wait"]);

  // If the token is revoked while the task waits, the task does not continue.
  const second = taskIn(await holder.sendMessage(messageOf(["go"])));
  expect(second.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  await createCapabilityClient(alice).revoke(token);
  const more = messageOf(["on"], { taskId: second.id });
  expect(refusalOf(await failureOf(holder.sendMessage(more)))?.code).toBe("revoked");
  expect(turns).toHaveLength(2);
});

test("concurrent messages to a task never run at the same time, and each is answered or refused", async () => {
  let running = 0;
  let most = 0;
  const runTask = async (task: TaskCall): Promise<TaskAnswer> => {
    running += 1;
    most = Math.max(most, running);
    await task.invoke("wait", { milliseconds: task.earlier.length === 0 ? 0 : 20 });
    running -= 1;
    return task.answer("input-required", "more?");
  };
  const agent = await agentFor({ runTask });
  const { holder } = await held(agent);
  const { id: taskId } = taskIn(await holder.sendMessage(messageOf(["go"])));
  const send = (): Promise<string> =>
    holder.sendMessage(messageOf(["on"], { taskId })).then(() => "done", String);
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(Array.from({ length: 6 }, send));
    expect(answers.filter((answer) => answer === "done").length).toBeGreaterThan(0);
    for (const answer of answers) expect(answer).toMatch(/^done$|takes no further message/);
  }
  expect(most).toBe(1);
  // A refused message does not block the next message.
  expect(await send()).toBe("done");
});

test("a waiting task stays when another instance opens the task store after the lease of its agent has ended, and can then be cancelled", async () => {
  const agent = await agentFor({ runTask: asking });
  const { holder } = await held(agent);
  const { id } = taskIn(await holder.sendMessage(messageOf(["pay"])));
  await startBeside(agent);
  const cancelled = await holder.cancelTask({ tenant: "", id, metadata: undefined });
  expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  const more = messageOf(["to bob"], { taskId: id });
  expect(String(await failureOf(holder.sendMessage(more)))).toContain("terminal state");
});

test("a runner's answer with an unknown state fails the task, and is logged", async () => {
  const runTask: TaskRunner = async (task) => task.answer(JSON.parse('"completed"'), "done");
  const agent = await agentFor({ runTask });
  const { holder } = await held(agent);
  const task = taskIn(await holder.sendMessage(messageOf(["go"])));
  expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
  expect(agent.logged()).toContain("must be one of rejected, input-required, auth-required");
});
