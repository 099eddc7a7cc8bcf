import { TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attenuate, createNonce } from "../../../src/index.js";
import { createCapabilityClient, withCapability } from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  callOf,
  clientOf,
  failureOf,
  first,
  LISTING,
  quietConsole,
  request,
  resultOf,
  SOME_BINDINGS,
  taskIn,
} from "./callers.js";
import { AT_ONCE, held } from "./set-up.js";

let agent: TestAgent;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent();
});

afterAll(() => agent.remove());

function child(token: string): string {
  const attenuation = attenuate(token, { nonce: createNonce() });
  if (!attenuation.ok) throw new Error("not narrowed");
  return attenuation.token;
}

describe.each(SOME_BINDINGS)("a task made over %s", (binding) => {
  let alice: Client;
  let parent: string;
  let token: string;
  /** The id of a running task that was made with `token`. */
  let id: string;

  beforeAll(async () => {
    alice = await clientOf(agent, binding, "alice");
    parent = (await request(alice, { grants: ["work:do"] })).token;
    token = child(parent);
    const holder = await withCapability(alice, token);
    const call = { ...callOf("wait", { milliseconds: 60_000 }), configuration: AT_ONCE };
    id = taskIn(await holder.sendMessage(call)).id;
  });

  /** Returns the error of each operation on the task, or "nothing". */
  async function operations(client: Client): Promise<readonly string[]> {
    const outcomes = await Promise.all([
      client.getTask({ tenant: "", id }).then(() => "nothing", nameOf),
      first(client.resubscribeTask({ tenant: "", id })).then(() => "nothing", nameOf),
      client
        .sendMessage(callOf("wait", { milliseconds: 0 }, { taskId: id }))
        .then(() => "nothing", nameOf),
      client.cancelTask({ tenant: "", id, metadata: undefined }).then(() => "nothing", nameOf),
    ]);
    return outcomes;
  }

  const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");
  const NOT_FOUND = Array(4).fill("TaskNotFoundError");

  async function lists(client: Client): Promise<boolean> {
    const { tasks, totalSize } = await client.listTasks(LISTING);
    expect(tasks.length).toBe(totalSize);
    return tasks.some((task) => task.id === id);
  }

  test("is hidden from a sibling token", async () => {
    const sibling = await withCapability(alice, child(parent));
    expect(await operations(sibling)).toEqual(NOT_FOUND);
    expect(await lists(sibling)).toBe(false);
  });

  test("is hidden from a child token", async () => {
    const below = await withCapability(alice, child(token));
    expect(await operations(below)).toEqual(NOT_FOUND);
    expect(await lists(below)).toBe(false);
  });

  test("is hidden from another capability of the same grant", async () => {
    const other = await request(alice, { grants: ["work:do"] });
    const holder = await withCapability(alice, other.token);
    expect(await operations(holder)).toEqual(NOT_FOUND);
    expect(await lists(holder)).toBe(false);
  });

  test("is hidden from another principal with the same token", async () => {
    for (const owned of [parent, token]) {
      const bob = await clientOf(agent, binding, "bob", owned);
      expect(await operations(bob)).toEqual(NOT_FOUND);
      expect(await lists(bob)).toBe(false);
    }
  });

  test("cannot be read under another tenant", async () => {
    const holder = await withCapability(alice, token);
    const refused = await failureOf(holder.getTask({ tenant: "other", id }));
    expect(String(refused)).toContain("no tenants");
  });

  test("is visible with the token that made the task and with that token's parent", async () => {
    for (const owned of [parent, token]) {
      const holder = await withCapability(alice, owned);
      expect((await holder.getTask({ tenant: "", id })).status?.state).toBe(
        TaskState.TASK_STATE_WORKING,
      );
      expect(await lists(holder)).toBe(true);
      expect(await first(holder.resubscribeTask({ tenant: "", id }))).toMatchObject({
        payload: { $case: "task" },
      });
    }
  });

  test("can be cancelled with the parent token, and can then also be read with a child token by the same caller", async () => {
    const above = await withCapability(alice, parent);
    const cancelled = await above.cancelTask({ tenant: "", id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const maker = await withCapability(alice, token);
    expect((await maker.getTask({ tenant: "", id })).status?.state).toBe(
      TaskState.TASK_STATE_CANCELED,
    );
    // Only the task's party can read the ended task, with a token that covers it.
    const below = await withCapability(alice, child(token));
    expect((await below.getTask({ tenant: "", id })).id).toBe(id);
    const calendar = await clientOf(agent, binding, "calendar", child(token));
    expect(await failureOf(calendar.getTask({ tenant: "", id }))).toMatchObject({
      name: "TaskNotFoundError",
    });
  });

  test("cannot be read with the token that made the task once that token is revoked, but can still be read with the parent token", async () => {
    await createCapabilityClient(alice).revoke(token);
    const maker = await withCapability(alice, token);
    await expect(maker.getTask({ tenant: "", id })).rejects.toThrow("revoked");
    const above = await withCapability(alice, parent);
    expect((await above.getTask({ tenant: "", id })).id).toBe(id);
  });
});

test("a second message to a running or ended task is refused, and the task still completes", async () => {
  const { holder } = await held(agent);
  const slow = { ...callOf("wait", { milliseconds: 800 }), configuration: AT_ONCE };
  const { id, contextId } = taskIn(await holder.sendMessage(slow));
  const more = callOf("wait", { milliseconds: 1 }, { taskId: id, contextId });
  expect(await failureOf(holder.sendMessage(more))).toMatchObject({
    name: "UnsupportedOperationError",
    message: expect.stringContaining("under way"),
  });
  const events = [];
  for await (const event of holder.resubscribeTask({ tenant: "", id })) events.push(event);
  expect(resultOf(await holder.getTask({ tenant: "", id }))).toEqual({ waited: 800 });
  expect(await failureOf(holder.sendMessage(more))).toMatchObject({
    name: "UnsupportedOperationError",
    message: expect.stringContaining("terminal"),
  });
});
