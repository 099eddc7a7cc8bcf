import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  type Message,
  type StreamResponse,
  type Task,
  TaskState,
  taskStateToJSON,
} from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { Approvals } from "../../../src/agent/parties/approvals.js";
import type { HopInit } from "../../../src/caveats/hop.js";
import { inspect } from "../../../src/index.js";
import {
  type CapabilityClient,
  createCapabilityClient,
  EXTENSION_URI,
} from "../../../src/protocols/a2a/client/index.js";
import { openStores } from "../../../src/stores/index.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { startAgent, type TestAgent, type TestAgentOptions } from "../../support/a2a-agent.js";
import {
  at,
  type BindingName,
  callOf,
  clientOf,
  failureOf,
  LISTING,
  messageOf,
  resultOf,
  rpc,
  SOME_BINDINGS,
  send,
  taskIn,
  textAt,
} from "./callers.js";
import { agentFor, KNOWN } from "./set-up.js";

const RULE = { "payments:send": {} };
const PAYMENT = { grants: ["payments:send"], purpose: "pay the rent" };
const METHOD = "a2a/capabilities/request";
const COLLECT = "a2a/capabilities/collect";

/** Starts an agent that requires approval before it grants payments. */
const asking = (more: TestAgentOptions = {}): Promise<TestAgent> =>
  agentFor({ approval: RULE, verificationUri: "https://agent.example/approvals", ...more });

/** Returns the message that requests payments. */
const message = (more: Partial<Message> = {}, query: object = PAYMENT) =>
  messageOf([{ data: { method: METHOD, params: { ...query } } }], more);

/** Decides an approval, as a user. */
async function decide(
  { approvals }: TestAgent,
  id: string,
  answer: "approve" | "deny",
  more: { readonly hop?: HopInit; readonly reason?: string } = {},
) {
  const { digest = "" } = (await approvals.get(id)) ?? {};
  const { hop, reason } = more;
  const hops = hop === undefined ? {} : { hops: { 0: hop } };
  const said = reason === undefined ? {} : { reason };
  const by = { principal: "alice" };
  const outcome = await approvals.decide(id, by, { answer, digest, ...hops, ...said });
  if (!outcome.ok) throw new Error(outcome.message);
}

async function clients(agent: TestAgent, binding: BindingName = "JSON-RPC") {
  const alice = await clientOf(agent, binding, "alice");
  return { alice, capabilities: createCapabilityClient(alice) };
}

const getTask = (client: Client, id: string): Promise<Task> =>
  client.getTask({ tenant: "", id, historyLength: undefined });

const stateOf = ({ status }: Pick<Task, "status">): string =>
  taskStateToJSON(status?.state ?? TaskState.TASK_STATE_UNSPECIFIED);

/** Returns the data in the message of a task's status, or the text if the message has no data. */
function saidIn({ status }: Pick<Task, "status">): unknown {
  const [part] = status?.message?.parts ?? [];
  return part?.content?.$case === "data" ? part.content.value : part?.content?.value;
}

/** Waits until the task is in this state. */
async function inState(client: Client, id: string, state: string): Promise<Task> {
  await expect.poll(async () => stateOf(await getTask(client, id))).toBe(state);
  return getTask(client, id);
}

const denialOf = async (action: Promise<unknown>): Promise<string> =>
  String(await failureOf(action));

describe.each(SOME_BINDINGS)("a capability request that needs approval, over %s", (binding) => {
  test("waits, and its tokens can be collected once a user approves the request", async () => {
    const agent = await asking();
    const { alice, capabilities } = await clients(agent, binding);
    const asked = await capabilities.request(PAYMENT);
    expect(asked).toEqual({
      capabilities: [],
      pending: {
        approvalId: expect.stringMatching(/^approval_/),
        expires: expect.stringMatching(/Z$/),
        interval: 2,
        verificationUri: "https://agent.example/approvals",
        grants: [{ grant: "payments:send", operations: ["pay"] }],
      },
    });
    const { approvalId = "" } = asked.pending ?? {};
    const waiting = await capabilities.collect(approvalId);
    expect(waiting).toMatchObject({ capabilities: [], pending: { approvalId } });

    const hop = { constraints: { amount: { max: 1000 }, to: "ACME" } };
    await decide(agent, approvalId, "approve", { hop });
    const { capabilities: granted } = await capabilities.waitFor({ approvalId, interval: 0.05 });
    const [capability] = granted;
    const { token = "" } = capability ?? {};
    expect(inspect(token).authority.constraints).toMatchObject({ amount: { max: 1000 } });
    expect((await capabilities.collect(approvalId)).capabilities).toEqual(granted);

    const pay = (amount: number) => capabilities.invoke("pay", { amount, to: "ACME" }, token);
    expect((await pay(1000)).result).toEqual({ paid: 1000, to: "ACME" });
    expect(await denialOf(pay(1001))).toContain("constraint_violated");
    // A party that has not made the request can collect nothing, and sees no task.
    for (const who of ["bob", "calendar"] as const) {
      const other = await clientOf(agent, binding, who);
      const refused = createCapabilityClient(other).collect(approvalId);
      expect(await denialOf(refused)).toContain("asked for nothing");
      expect(await denialOf(getTask(other, approvalId))).toContain("Task not found");
    }
    expect(stateOf(await inState(alice, approvalId, "TASK_STATE_COMPLETED"))).toBeTruthy();
  });

  test("becomes a task if sent as a message; the task ends after approval and stores no token", async () => {
    const agent = await asking();
    const { alice, capabilities } = await clients(agent, binding);
    const task = taskIn(await alice.sendMessage(message(), KNOWN));
    expect(stateOf(task)).toBe("TASK_STATE_AUTH_REQUIRED");
    expect(task.status?.message?.extensions).toEqual([EXTENSION_URI]);
    expect(saidIn(task)).toMatchObject({ pending: { approvalId: task.id } });
    expect(stateOf(await getTask(alice, task.id))).toBe("TASK_STATE_AUTH_REQUIRED");
    await decide(agent, task.id, "approve");
    const done = await inState(alice, task.id, "TASK_STATE_COMPLETED");
    expect(resultOf(done)).toEqual({
      approvalId: task.id,
      collect: COLLECT,
      granted: [{ grant: "payments:send", operations: ["pay"] }],
    });
    const { capabilities: granted } = await capabilities.collect(task.id);
    const { token = "" } = granted[0] ?? {};
    expect(token).not.toBe("");
    expect(JSON.stringify(await getTask(alice, task.id))).not.toContain(token.slice(-40));
    for (const file of readdirSync(agent.home).filter((name) => name.startsWith("proviso.db"))) {
      expect(readFileSync(join(agent.home, file)).includes(token.slice(-40)), file).toBe(false);
    }
  });

  test("becomes a rejected task with the approver's reason if a user denies the request", async () => {
    const agent = await asking();
    const { alice, capabilities } = await clients(agent, binding);
    const { id } = taskIn(await alice.sendMessage(message(), KNOWN));
    await decide(agent, id, "deny", { reason: "not before Friday" });
    const done = await inState(alice, id, "TASK_STATE_REJECTED");
    expect(saidIn(done)).toBe("denied: not before Friday");
    expect(done.status?.message?.metadata).toEqual({
      [EXTENSION_URI]: { reason: "approval_denied" },
    });
    expect(await denialOf(capabilities.collect(id))).toContain("not before Friday");
  });

  test("has one task if its message is repeated; another message with the same id is refused", async () => {
    const agent = await asking();
    const { alice } = await clients(agent, binding);
    const once = message();
    const task = taskIn(await alice.sendMessage(once, KNOWN));
    expect(taskIn(await alice.sendMessage(once, KNOWN)).id).toBe(task.id);
    const { messageId = "" } = once.message ?? {};
    const other = message({ messageId }, { grants: ["payments:send"] });
    expect(await denialOf(alice.sendMessage(other, KNOWN))).toContain("another message");
    const more = message({ taskId: task.id });
    expect(await denialOf(alice.sendMessage(more, KNOWN))).toContain("goes on by itself");
    const call = callOf("pay", { amount: 1, to: "ACME" }, { taskId: task.id });
    expect(await denialOf(alice.sendMessage(call, KNOWN))).toContain("goes on by itself");
    await decide(agent, task.id, "approve");
    await inState(alice, task.id, "TASK_STATE_COMPLETED");
    expect(stateOf(taskIn(await alice.sendMessage(once, KNOWN)))).toBe("TASK_STATE_COMPLETED");
  });

  test("is withdrawn if its task is cancelled before a user decides", async () => {
    const agent = await asking();
    const { alice } = await clients(agent, binding);
    const cancel = (id: string) => alice.cancelTask({ tenant: "", id, metadata: {} });
    const { id } = taskIn(await alice.sendMessage(message(), KNOWN));
    expect(stateOf(await cancel(id))).toBe("TASK_STATE_CANCELED");
    expect(stateOf(await cancel(id))).toBe("TASK_STATE_CANCELED");
    expect(await agent.approvals.get(id)).toMatchObject({ state: "cancelled" });
    const approved = taskIn(await alice.sendMessage(message(), KNOWN)).id;
    await decide(agent, approved, "approve");
    await inState(alice, approved, "TASK_STATE_COMPLETED");
    expect(await denialOf(cancel(approved))).toContain("not cancelable");
    expect(await agent.approvals.get(approved)).toMatchObject({ state: "approved" });
  });

  test("can be followed to the end of its task by a stream and by a subscription", async () => {
    const agent = await asking();
    const { alice } = await clients(agent, binding);
    const events: StreamResponse[] = [];
    const later: StreamResponse[] = [];
    let subscribed: Promise<void> | undefined;
    for await (const event of alice.sendMessageStream(message(), KNOWN)) {
      events.push(event);
      const { payload } = event;
      if (payload?.$case !== "task") continue;
      const { id } = payload.value;
      subscribed = (async () => {
        for await (const one of alice.resubscribeTask({ tenant: "", id })) {
          later.push(one);
          if (later.length === 1) await decide(agent, id, "approve");
        }
      })();
    }
    await subscribed;
    const kinds = ["task", "artifactUpdate", "statusUpdate"];
    expect(events.map(({ payload }) => payload?.$case)).toEqual(kinds);
    expect(later.map(({ payload }) => payload?.$case)).toEqual(kinds);
    const last = events.at(-1)?.payload;
    const state = last?.$case === "statusUpdate" ? last.value.status?.state : undefined;
    expect(state).toBe(TaskState.TASK_STATE_COMPLETED);
  });
});

test("a capability request repeated with its requestId opens no second approval; another request with that id is refused", async () => {
  const agent = await asking();
  const first = await rpc(agent, "alice", METHOD, { ...PAYMENT, requestId: "rent" });
  const again = await rpc(agent, "alice", METHOD, { ...PAYMENT, requestId: "rent" });
  expect(again.body).toEqual(first.body);
  const other = await rpc(agent, "alice", METHOD, { grants: ["payments:send"], requestId: "rent" });
  expect(textAt(other.body, "error", "message")).toContain("another request");
  // A request with the same id is refused even if the part that differs needs no approval, or the whole request
  // needs none.
  for (const params of [
    { ...PAYMENT, grants: [...PAYMENT.grants, "work:do"] },
    { ...PAYMENT, operations: ["pay"] },
    { ...PAYMENT, purpose: "another purpose" },
    { grants: ["work:do"] },
    {
      grants: ["documents:read"],
      resourceQuery: { collection: "letters", filter: { title: "x" } },
    },
  ]) {
    const { body } = await rpc(agent, "alice", METHOD, { ...params, requestId: "rent" });
    expect(at(body, "error"), JSON.stringify(params)).toMatchObject({
      code: -31422,
      message: "another request has been made under this id; choose a new one",
    });
  }
  const theirs = await rpc(agent, "calendar", METHOD, { ...PAYMENT, requestId: "rent" });
  expect(at(theirs.body, "result", "pending", "approvalId")).not.toBe(
    at(first.body, "result", "pending", "approvalId"),
  );
  for (const requestId of ["", 7, "x".repeat(129), "a\u001b"]) {
    const odd = await rpc(agent, "alice", METHOD, { ...PAYMENT, requestId });
    expect(at(odd.body, "error", "code"), String(requestId)).toBe(-32602);
  }
});

test("a capability request repeated with its requestId in another message gets the same task, even after the task has ended", async () => {
  const agent = await asking();
  const { alice } = await clients(agent);
  const rent = { ...PAYMENT, requestId: "rent" };
  const sent = async () => taskIn(await alice.sendMessage(message({}, rent), KNOWN));
  const [first, second] = [await sent(), await sent()];
  expect(second.id).toBe(first.id);
  await decide(agent, first.id, "approve");
  await inState(alice, first.id, "TASK_STATE_COMPLETED");
  expect(stateOf(await sent())).toBe("TASK_STATE_COMPLETED");
});

test("if one of two requested grants needs approval, the other grant is issued at once, and its token is not stored with the task", async () => {
  const agent = await asking();
  const { alice, capabilities } = await clients(agent);
  const both = { grants: ["work:do", "payments:send"] };
  const task = taskIn(await alice.sendMessage(message({}, both), KNOWN));
  const [{ token = "" } = {}] = Object(saidIn(task)).capabilities;
  expect(inspect(token).grant).toBe("work:do");
  const kept = await getTask(alice, task.id);
  expect(saidIn(kept)).not.toHaveProperty("capabilities");
  const asked = await capabilities.request(both);
  expect(asked).toMatchObject({ capabilities: [{ grant: "work:do" }], pending: {} });
});

test("the task of a capability request that nobody decides in time fails as approval_expired", async () => {
  const agent = await asking();
  const { alice } = await clients(agent);
  const { id } = taskIn(await alice.sendMessage(message(), KNOWN));
  agent.advance(31 * 24 * 60 * 60 * 1000);
  expect(await agent.approvals.get(id)).toMatchObject({ state: "expired" });
  const done = await inState(alice, id, "TASK_STATE_FAILED");
  expect(done.status?.message?.metadata).toEqual({
    [EXTENSION_URI]: { reason: "approval_expired" },
  });
});

test("a task that waits for approval continues after a restart, even if the user decides while the agent is stopped", async () => {
  const agent = await startAgent({ approval: RULE });
  let { alice } = await clients(agent);
  const ids: string[] = [];
  for (const purpose of ["one", "two"]) {
    ids.push(taskIn(await alice.sendMessage(message({}, { ...PAYMENT, purpose }), KNOWN)).id);
  }
  const [first = "", second = ""] = ids;
  await agent.stop();
  const again = await startAgent({ approval: RULE, again: agent.home });
  onTestFinished(() => again.remove());
  ({ alice } = await clients(again));
  expect(stateOf(await getTask(alice, first))).toBe("TASK_STATE_AUTH_REQUIRED");
  await decide(again, first, "approve");
  await inState(alice, first, "TASK_STATE_COMPLETED");
  await again.stop();
  // The user decides while no agent is running.
  const stores = await openStores(`${agent.home}/proviso.db`);
  const approvals = new Approvals({ store: openParties(stores) });
  const { digest = "" } = (await approvals.get(second)) ?? {};
  await approvals.decide(second, { principal: "alice" }, { answer: "deny", digest });
  await stores.close();
  const third = await startAgent({ approval: RULE, again: agent.home });
  onTestFinished(() => third.remove());
  ({ alice } = await clients(third));
  await inState(alice, second, "TASK_STATE_REJECTED");
  const { capabilities } = await createCapabilityClient(alice).collect(first);
  expect(capabilities).toHaveLength(1);
});

test("a task that waited for approval notifies its push receivers when it completes, without a token", async () => {
  const got: string[] = [];
  const server = createServer((req, res) => {
    req.setEncoding("utf8").on("data", (chunk: string) => got.push(chunk));
    req.on("end", () => res.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = await asking({ pushOrigins: [origin] });
  const { alice } = await clients(agent);
  const target = (url: string) => ({
    tenant: "",
    id: "",
    taskId: "",
    url,
    token: "mine",
    authentication: undefined,
  });
  const sendTo = (url: string, asked = message()) =>
    alice.sendMessage(
      {
        ...asked,
        configuration: {
          acceptedOutputModes: [],
          historyLength: undefined,
          returnImmediately: true,
          taskPushNotificationConfig: target(url),
        },
      },
      KNOWN,
    );
  expect(await denialOf(sendTo("http://127.0.0.1:9/away"))).toContain(
    "push notifications go only to",
  );
  const asked = message();
  const { id } = taskIn(await sendTo(`${origin}/hook`, asked));
  // A repetition of the message makes no new request.
  expect(taskIn(await sendTo(`${origin}/hook`, asked)).id).toBe(id);
  await alice.createTaskPushNotificationConfig({
    ...target(`${origin}/more`),
    taskId: id,
    id: "more",
  });
  await decide(agent, id, "approve");
  const ends = (): number => got.filter((body) => body.includes("TASK_STATE_COMPLETED")).length;
  await expect.poll(ends).toBe(2);
  expect(got.join("")).not.toMatch(/"token"/);
});

test("in mode require, only the task of a capability request can be read without a capability", async () => {
  const agent = await asking({ mode: "require" });
  const { alice } = await clients(agent);
  const { id } = taskIn(await alice.sendMessage(message(), KNOWN));
  expect(stateOf(await getTask(alice, id))).toBe("TASK_STATE_AUTH_REQUIRED");
  expect(await denialOf(alice.listTasks(LISTING))).toContain("capability_missing");
  expect(await denialOf(getTask(alice, "of-something-else"))).toContain("capability_missing");
  expect(await denialOf(getTask(alice, "approval_unknown"))).toContain("Task not found");
  // A token presented with the request is still checked.
  const bad = await send(`${agent.server.restUrl}/tasks/${id}`, {
    headers: {
      Authorization: "Bearer development-token-of-alice",
      "A2A-Version": "1.0",
      "Proviso-Capability": "AgEGZm9yZ2Vk",
    },
  });
  expect(bad.status).toBe(403);
});

test("tasks that wait for approval do not count towards the caller's limit of running tasks", async () => {
  const agent = await asking({ mostRunning: 1 });
  const { alice, capabilities } = await clients(agent);
  for (const purpose of ["one", "two", "three"]) {
    await alice.sendMessage(message({}, { ...PAYMENT, purpose }), KNOWN);
  }
  const work = await capabilities.request({ grants: ["work:do"] });
  const { token = "" } = work.capabilities[0] ?? {};
  expect((await capabilities.invoke("wait", { milliseconds: 1 }, token)).result).toBeTruthy();
});

test("collecting tokens with an unknown, missing or malformed approval id is refused", async () => {
  const agent = await asking();
  for (const [params, words] of [
    [{}, '"approvalId" must be'],
    [{ approvalId: 7 }, '"approvalId" must be'],
    [{ approvalID: "approval_x" }, 'mean "approvalId"'],
    [{ approvalId: "approval_x" }, "asked for nothing"],
  ] as const) {
    const { body } = await rpc(agent, "alice", COLLECT, params);
    expect(textAt(body, "error", "message")).toContain(words);
  }
  const without: CapabilityClient = createCapabilityClient(
    await clientOf(agent, "JSON-RPC", "bob"),
  );
  await expect(without.waitFor({ approvalId: "x", interval: 0 })).rejects.toThrow(TypeError);
});
