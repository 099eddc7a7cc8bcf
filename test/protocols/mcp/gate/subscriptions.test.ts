import { expect, onTestFinished, test, vi } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import { NEW_META, openTestGate, RawServer, tool } from "./support.js";

const NEW = { era: "new" } as const;
const KEY = "io.modelcontextprotocol/subscriptionId";

function listen(id: number | string, notifications: JsonObject, token?: string): JsonObject {
  const _meta = token === undefined ? NEW_META : { ...NEW_META, "dev.proviso/capability": token };
  return { jsonrpc: "2.0", id, method: "subscriptions/listen", params: { notifications, _meta } };
}

function heard(method: string, subscription: Json, params: JsonObject = {}): JsonObject {
  return { jsonrpc: "2.0", method, params: { ...params, _meta: { [KEY]: subscription } } };
}

test("messages of a subscription reach the host under the host's id, and messages of no subscription are dropped", async () => {
  const server = new RawServer();
  const { host } = await openTestGate([server], { operations: ["resources:subscribe"] });
  await host.send(
    listen("mine", { resourceSubscriptions: ["db://a"], resourcesListChanged: true }),
    NEW,
  );
  const { id = null } = await server.request("subscriptions/listen");
  const updated = "notifications/resources/updated";
  await server.say(heard("notifications/subscriptions/acknowledged", id, { notifications: {} }));
  await server.say(heard(updated, id, { uri: "db://a" }));
  await server.say(heard(updated, "mine", { uri: "db://evil" }));
  await server.say(heard(updated, 999, { uri: "db://evil" }));
  await server.say(heard("notifications/message", id, { data: "evil" }));
  expect(await host.heard(updated)).toEqual(heard(updated, "mine", { uri: "db://a" }));
  expect(host.received.join()).not.toContain("evil");
  await server.say({
    jsonrpc: "2.0",
    id,
    result: { resultType: "complete", _meta: { [KEY]: id } },
  });
  expect(await host.answerTo("mine")).toMatchObject({ result: { _meta: { [KEY]: "mine" } } });
});

test("over HTTP, messages in the stream of a subscription reach the host even if the server writes the subscription's id as a string", async () => {
  const server = new RawServer();
  const { host } = await openTestGate([server], { operations: ["resources:subscribe"] });
  await host.send(listen("mine", { resourceSubscriptions: ["db://a"] }), NEW);
  const { id } = await server.request("subscriptions/listen");
  const updated = "notifications/resources/updated";
  await server.say(heard(updated, String(id), { uri: "db://a" }), { forRequest: Number(id) });
  expect(await host.heard(updated)).toEqual(heard(updated, "mine", { uri: "db://a" }));
});

test("a subscription is refused unless the token allows each of its resources", async () => {
  const server = new RawServer();
  const { host } = await openTestGate([server], {
    operations: ["resources:subscribe"],
    operationConstraints: { "resources:subscribe": { path: { path: "/data" } } },
  });
  const refused = { error: { code: -31403 } };
  expect(
    await host.ask(listen(1, { resourceSubscriptions: ["file:///data/a", "file:///etc/b"] }), NEW),
  ).toMatchObject(refused);
  expect(await host.ask(listen(2, { resourceSubscriptions: [7] }), NEW)).toMatchObject({
    error: { code: -32602 },
  });
  expect(
    await host.ask(listen(3, { resourceSubscriptions: ["file:///data/%2e%2e/etc"] }), NEW),
  ).toMatchObject(refused);
  expect(server.received).toEqual([]);
  await host.send(listen(4, { resourceSubscriptions: ["file:///data/a"] }), NEW);
  expect(await server.request("subscriptions/listen")).toBeDefined();
});

test.each<[string, JsonObject]>([
  ["a string for an array", { resourceSubscriptions: "file:///etc/passwd" }],
  ["another spelling", { ResourceSubscriptions: ["file:///etc/passwd"] }],
  ["an unknown property", { resources: ["file:///etc/passwd"] }],
  ["an array for a boolean", { toolsListChanged: ["file:///etc/passwd"] }],
])(
  "a filter with %s is refused, because a server could read it as a list of resources",
  async (_, filter) => {
    const server = new RawServer();
    const { host } = await openTestGate([server], { anyOperation: true });
    expect(await host.ask(listen(1, filter), NEW)).toMatchObject({ error: { code: -32602 } });
    expect(server.received).toEqual([]);
  },
);

test("a subscription to a resource ends when its token is revoked", async () => {
  const server = new RawServer();
  const gate = await openTestGate([server], { operations: ["resources:subscribe"] });
  const { host, issuer, revocations, ownToken } = gate;
  await host.send(listen("mine", { resourceSubscriptions: ["db://a"] }), NEW);
  const { id = null } = await server.request("subscriptions/listen");
  await server.say(heard("notifications/subscriptions/acknowledged", id, { notifications: {} }));
  const revocation = issuer.revocationOf(ownToken);
  if (!revocation.ok) throw new Error("no entry");
  await revocations.add(revocation.entry);
  expect(await host.answerTo("mine")).toMatchObject({ result: { resultType: "complete" } });
  expect(await server.request("notifications/cancelled")).toMatchObject({
    params: { requestId: id },
  });
  await server.say(heard("notifications/resources/updated", id, { uri: "db://evil" }));
  expect(host.received.join()).not.toContain("evil");
});

test("a subscription to a task ends when its token is revoked, even if the token is the gate's own", async () => {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("run")] };
  server.answers["tools/call"] = { resultType: "task", taskId: "t1", status: "working" };
  const gate = await openTestGate([server], { operations: ["run"] });
  const { host, issuer, revocations, ownToken } = gate;
  const params = { name: "run", _meta: NEW_META };
  await host.ask({ id: 1, method: "tools/call", params }, NEW);
  await host.send(listen("mine", { taskIds: ["t1"] }), NEW);
  await server.request("subscriptions/listen");
  const revocation = issuer.revocationOf(ownToken);
  if (!revocation.ok) throw new Error("no entry");
  await revocations.add(revocation.entry);
  expect(await host.answerTo("mine")).toMatchObject({ result: { resultType: "complete" } });
});

test.each([
  ["one server", [new RawServer()], "resources:subscribe"],
  ["several servers", [new RawServer("one"), new RawServer("two")], "one/resources:subscribe"],
])(
  "with %s, a host that has subscribed to lists only is not notified of changed resources",
  async (_, servers, operation) => {
    const { host } = await openTestGate(servers, { operations: [operation] });
    await host.send(listen("mine", { resourcesListChanged: true }), NEW);
    for (const server of servers) {
      const { id = null } = await server.request("subscriptions/listen");
      await server.say(
        heard("notifications/subscriptions/acknowledged", id, { notifications: {} }),
      );
      await server.say(heard("notifications/resources/updated", id, { uri: "db://evil" }));
      await server.say(heard("notifications/resources/list_changed", id));
    }
    await host.heard("notifications/resources/list_changed");
    expect(host.received.join()).not.toContain("evil");
  },
);

test("a subscription at several servers is one subscription for the host, and ends when the last server ends its part", async () => {
  const [one, two] = [new RawServer("one"), new RawServer("two")];
  const { host } = await openTestGate([one, two], { anyOperation: true });
  await host.send(listen("mine", { toolsListChanged: true }), NEW);
  expect(await host.heard("notifications/subscriptions/acknowledged")).toEqual(
    heard("notifications/subscriptions/acknowledged", "mine", {
      notifications: { toolsListChanged: true },
    }),
  );
  for (const server of [one, two]) {
    const { id = null } = await server.request("subscriptions/listen");
    await server.say(heard("notifications/subscriptions/acknowledged", id, { notifications: {} }));
    await server.say(heard("notifications/tools/list_changed", id));
    await server.say({ jsonrpc: "2.0", id, result: { resultType: "complete" } });
  }
  expect(host.messages.map(({ method, id }) => method ?? id)).toEqual([
    "notifications/subscriptions/acknowledged",
    "notifications/tools/list_changed",
    "notifications/tools/list_changed",
    "mine",
  ]);
});

test("only the creator of a task can subscribe to it, and the task's requests to the host are judged", async () => {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("run")] };
  server.answers["tools/call"] = { resultType: "task", taskId: "t1", status: "working" };
  const { host, mint } = await openTestGate([server]);
  const [mine, theirs] = [mint({ operations: ["run"] }), mint({ operations: ["run"] })];
  const _meta = { ...NEW_META, "dev.proviso/capability": mine };
  await host.ask({ id: 1, method: "tools/call", params: { name: "run", _meta } }, NEW);
  expect(await host.ask(listen(2, { taskIds: ["t1"] }, theirs), NEW)).toMatchObject({
    error: { code: -32602 },
  });
  await host.send(listen(3, { taskIds: ["t1"] }, mine), NEW);
  const { id = null } = await server.request("subscriptions/listen");
  const steal = { method: "sampling/createMessage", params: { messages: ["evil"] } };
  const state = { taskId: "t1", status: "input_required" };
  await server.say(heard("notifications/tasks", id, { ...state, inputRequests: { steal } }));
  await server.say(heard("notifications/tasks", id, { taskId: "t2", status: "evil" }));
  await server.say(heard("notifications/tasks", id, { taskId: "t1", status: "completed" }));
  expect(await host.heard("notifications/tasks")).toMatchObject({
    params: { status: "completed" },
  });
  expect(host.received.join()).not.toContain("evil");
});

test("the host and the server can each cancel a subscription, and the other side gets the cancellation under its own id", async () => {
  const server = new RawServer();
  const { host } = await openTestGate([server], { anyOperation: true });
  for (const id of ["a", "b"]) await host.send(listen(id, { toolsListChanged: true }), NEW);
  await server.request("subscriptions/listen");
  const [first, second] = server.requests("subscriptions/listen").map(({ id = null }) => id);
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled" };
  await host.send({ ...cancelled, params: { requestId: "a" } });
  expect(await server.request("notifications/cancelled")).toMatchObject({
    params: { requestId: first },
  });
  await server.say({ ...cancelled, params: { requestId: second ?? null } });
  expect(await host.heard("notifications/cancelled")).toEqual({
    ...cancelled,
    params: { requestId: "b" },
  });
});

/** Limits of a token that allows subscriptions and expires after ten seconds. */
const SHORT = { operations: ["resources:subscribe"], expires: "10s" };

/** Stops the clock until the end of the test. @returns A function that advances the clock until SHORT tokens expire. */
function stopClock(): () => Promise<unknown> {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return () => vi.advanceTimersByTimeAsync(10_000);
}

test("a subscription to a resource ends when its token expires", async () => {
  const server = new RawServer();
  const expire = stopClock();
  const { host, mint } = await openTestGate([server]);
  const token = mint(SHORT);
  await host.send(listen("mine", { resourceSubscriptions: ["db://a"] }, token), NEW);
  const { id = null } = await server.request("subscriptions/listen");
  await server.say(heard("notifications/subscriptions/acknowledged", id, { notifications: {} }));
  await expire();
  expect(await host.answerTo("mine")).toMatchObject({ result: { resultType: "complete" } });
  expect(await server.request("notifications/cancelled")).toMatchObject({
    params: { requestId: id },
  });
  await server.say(heard("notifications/resources/updated", id, { uri: "db://evil" }));
  expect(host.received.join()).not.toContain("evil");
});

test("a subscription to lists opens only with a token that is in force, and ends when the token expires or is revoked", async () => {
  const server = new RawServer();
  const expire = stopClock();
  const { host, mint, issuer, revocations } = await openTestGate([server]);
  const lists = { toolsListChanged: true };
  const [short, long] = [mint(SHORT), mint({ operations: ["read"] })];
  await host.send(listen("short", lists, short), NEW);
  await host.send(listen("long", lists, long), NEW);
  const complete = { result: { resultType: "complete" } };
  await expire();
  expect(await host.answerTo("short")).toMatchObject(complete);
  const expired = await host.ask(listen("late", lists, short), NEW);
  expect(expired).toMatchObject({ error: { code: -31403 } });
  expect(host.messages.some(({ id }) => id === "long")).toBe(false);
  const revocation = issuer.revocationOf(long);
  if (!revocation.ok) throw new Error("no entry");
  await revocations.add(revocation.entry);
  expect(await host.answerTo("long")).toMatchObject(complete);
  expect(server.requests("subscriptions/listen")).toHaveLength(2);
  expect(server.requests("notifications/cancelled")).toHaveLength(2);
});

test("a host of the old era is notified of changed resources only while the token of a subscription is valid", async () => {
  const server = new RawServer();
  server.answers["initialize"] = { capabilities: { resources: { subscribe: true } } };
  server.answers["resources/subscribe"] = {};
  const expire = stopClock();
  const { host, mint } = await openTestGate([server]);
  const updated = (uri: string) => ({
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri },
  });
  await host.ask({ id: 1, method: "initialize", params: {} });
  await server.say(updated("db://evil"));
  const _meta = { "dev.proviso/capability": mint(SHORT) };
  await host.ask({ id: 2, method: "resources/subscribe", params: { uri: "db://a", _meta } });
  await server.say(updated("db://a"));
  expect(await host.heard("notifications/resources/updated")).toEqual(updated("db://a"));
  await expire();
  await server.say(updated("db://evil"));
  expect(host.received.join()).not.toContain("evil");
});

test.each(["resourceSubscriptions", "taskIds"])(
  "a subscription with more than 1,000 %s is refused",
  async (name) => {
    const server = new RawServer();
    const { host } = await openTestGate([server], { anyOperation: true });
    const answer = await host.ask(listen(1, { [name]: Array(1001).fill("db://a") }), NEW);
    expect(answer).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("at most 1000") },
    });
    expect(server.received).toEqual([]);
  },
);

test("a subscription to the list of tools is notified once when the user has accepted a changed definition", async () => {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("read")] };
  const { host, pins } = await openTestGate([server], { operations: ["read"] });
  const list = async (id: number): Promise<Json | undefined> => {
    const answer = await host.ask({ id, method: "tools/list", params: { _meta: NEW_META } }, NEW);
    return answer["result"];
  };
  await list(1);
  await host.send(listen("mine", { toolsListChanged: true, promptsListChanged: true }), NEW);
  const { id = null } = await server.request("subscriptions/listen");
  await server.say(heard("notifications/subscriptions/acknowledged", id, { notifications: {} }));
  server.answers["tools/list"] = { tools: [tool("read", "webhook")] };
  expect(await list(2)).toMatchObject({ tools: [] });
  for (const pin of await pins.list()) await pins.accept(pin);
  const changed = "notifications/tools/list_changed";
  expect(await host.heard(changed)).toEqual(heard(changed, "mine"));
  expect(await list(3)).toMatchObject({ tools: [{ name: "read" }] });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const methods = host.messages.map(({ method }) => method);
  expect(methods.filter((method) => String(method).endsWith("list_changed"))).toEqual([changed]);
});
