import { expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../../src/bytes/json.js";
import { NEW_META, objectIn, openTestGate, RawServer, refusalIn, tool } from "./support.js";

const NEW = { era: "new" } as const;

function namesIn(answer: JsonObject, member = "tools"): readonly unknown[] {
  const entries = objectIn(answer, "result")[member];
  return Array.isArray(entries) ? entries.map(({ name }) => name) : [];
}

function server(tools: readonly JsonObject[], rest: JsonObject = {}): RawServer {
  const raw = new RawServer();
  raw.answers["tools/list"] = { tools, ...rest };
  return raw;
}

test("a list shows exactly the tools that the token allows with at least some arguments", async () => {
  const tools = [tool("read", "path"), tool("write", "path"), tool("a:b"), tool("c/d")];
  const { host } = await openTestGate([server(tools)], {
    operations: ["read", "c/d", "a:b"],
    operationConstraints: { read: { path: { path: "/data" } } },
    arguments: { read: ["path"] },
  });
  const answer = await host.ask({ id: 1, method: "tools/list" });
  expect(namesIn(answer)).toEqual(["read"]);
});

test("the input schema of a listed tool is narrowed to the token, and the rest of the definition is kept", async () => {
  const inputSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      amount: { $ref: "#/$defs/amount" },
    },
    $defs: { amount: { type: "number" } },
  };
  const annotations = { readOnlyHint: false };
  const outputSchema = { type: "object" };
  const pay = { name: "pay", inputSchema, annotations, outputSchema, _meta: { a: 1 } };
  const { host } = await openTestGate([server([pay])], {
    operations: ["pay"],
    operationConstraints: { pay: { region: "eu", amount: { max: 10 } } },
  });
  const answer = await host.ask({ id: 1, method: "tools/list" });
  const [shown] = Object.values(objectIn(answer, "result")["tools"] ?? {});
  expect(shown).toMatchObject({ name: "pay", annotations, outputSchema, _meta: { a: 1 } });
  const schema = isJsonObject(shown) ? objectIn(shown, "inputSchema") : {};
  expect(schema).toMatchObject({ $schema: inputSchema.$schema, $defs: inputSchema.$defs });
  expect(objectIn(schema, "properties")["region"]).toMatchObject({
    "x-mcp-header": "Region",
    const: "eu",
  });
  expect(schema["required"]).toEqual(expect.arrayContaining(["region", "amount"]));
});

test("a list for an unlimited token is the server's text, byte for byte except for the id", async () => {
  const raw = new RawServer();
  const { host } = await openTestGate([raw], { anyOperation: true });
  await host.send({ jsonrpc: "2.0", id: "x", method: "tools/list" });
  const { id } = await raw.request("tools/list");
  const text = `{"result": {"tools":[ {"name":"a","inputSchema":{"type":"object","n":1.0}} ]} ,"id":${id},"jsonrpc":"2.0"}`;
  await raw.say(text);
  await host.answerTo("x");
  expect(host.received).toEqual([text.replace(`"id":${id}`, '"id":"x"')]);
});

test("a list may be cached only by the client that requested it, and only until the token expires", async () => {
  const cached = { resultType: "complete", ttlMs: 86_400_000, cacheScope: "public" };
  const raw = server([tool("read")], cached);
  raw.answers["resources/list"] = { ...cached, resources: [], ttlMs: 5 };
  const { host, mint } = await openTestGate([raw]);
  const token = mint({ operations: ["read", "resources:read"], expires: "10m" });
  const params = { _meta: { ...NEW_META, "dev.proviso/capability": token } };
  const { ttlMs, cacheScope } = objectIn(
    await host.ask({ id: 1, method: "tools/list", params }, NEW),
    "result",
  );
  expect(cacheScope).toBe("private");
  expect(ttlMs).toBeGreaterThan(500_000);
  expect(ttlMs).toBeLessThanOrEqual(600_000);
  expect(await host.ask({ id: 2, method: "resources/list", params }, NEW)).toMatchObject({
    result: { ttlMs: 5, cacheScope: "private" },
  });
});

test.each([
  ["resources/list", "resources", "resources:read"],
  ["resources/templates/list", "resourceTemplates", "resources:read"],
  ["prompts/list", "prompts", "prompts:get"],
])(
  "the answer to %s is empty if the token lacks the operation, and is the server's own list otherwise",
  async (method, member, operation) => {
    const raw = new RawServer();
    raw.answers[method] = { [member]: [{ name: "one" }], nextCursor: "2" };
    const { host, mint } = await openTestGate([raw]);
    const ask = (id: number, token: string, era: "old" | "new" = "old") =>
      host.ask({ id, method, params: { _meta: { "dev.proviso/capability": token } } }, { era });
    const without = await ask(1, mint({ operations: ["read"] }));
    expect(without["result"]).toEqual({ [member]: [] });
    expect((await ask(2, mint({ operations: ["read"] }), "new"))["result"]).toEqual({
      resultType: "complete",
      [member]: [],
      ttlMs: 0,
      cacheScope: "private",
    });
    expect(raw.received).toEqual([]);
    expect(await ask(3, mint({ operations: [operation] }))).toMatchObject({
      result: { [member]: [{ name: "one" }], nextCursor: "2" },
    });
  },
);

test("a host of the old era is notified of changed lists when its token is revoked", async () => {
  const raw = server([tool("read")]);
  raw.answers["initialize"] = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, logging: {} },
  };
  const { host, revocations, issuer, ownToken } = await openTestGate([raw], {
    operations: ["read"],
  });
  const opened = await host.ask({ id: 1, method: "initialize", params: {} });
  expect(objectIn(objectIn(opened, "result"), "capabilities")).toEqual({
    tools: { listChanged: true },
    logging: {},
  });
  const revocation = issuer.revocationOf(ownToken);
  if (!revocation.ok) throw new Error("no entry");
  await revocations.add(revocation.entry);
  await host.heard("notifications/tools/list_changed");
  expect(host.messages.filter(({ method }) => method !== undefined)).toHaveLength(1);
  expect(await host.ask({ id: 2, method: "tools/list" })).toMatchObject({
    result: { tools: [] },
  });
});

test("a subscription of the new era is notified of changed lists when the gate's own token is revoked, and stays open", async () => {
  const raw = server([tool("read")]);
  const { host, revocations, issuer, ownToken } = await openTestGate([raw], {
    operations: ["read"],
  });
  const params = { notifications: { toolsListChanged: true }, _meta: NEW_META };
  await host.send({ jsonrpc: "2.0", id: "listen:0", method: "subscriptions/listen", params }, NEW);
  const { id = null } = await raw.request("subscriptions/listen");
  const meta = { "io.modelcontextprotocol/subscriptionId": id };
  const acknowledged = "notifications/subscriptions/acknowledged";
  await raw.say({
    jsonrpc: "2.0",
    method: acknowledged,
    params: { _meta: meta, notifications: {} },
  });
  const ours = { _meta: { "io.modelcontextprotocol/subscriptionId": "listen:0" } };
  expect(await host.heard(acknowledged)).toMatchObject({
    params: { ...ours, notifications: { toolsListChanged: true } },
  });
  const revocation = issuer.revocationOf(ownToken);
  if (!revocation.ok) throw new Error("no entry");
  await revocations.add(revocation.entry);
  expect(await host.heard("notifications/tools/list_changed")).toEqual({
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: ours,
  });
  expect(host.messages.some(({ id }) => id === "listen:0")).toBe(false);
  await host.send({ jsonrpc: "2.0", id: "later", method: "subscriptions/listen", params }, NEW);
  await expect.poll(() => raw.requests("subscriptions/listen").length).toBe(2);
});

test("a call succeeds while the host reads the first page of the same tool list", async () => {
  const raw = new RawServer();
  raw.answers["tools/call"] = { content: [] };
  const { host } = await openTestGate([raw], { operations: ["read"] });
  const page = { tools: [tool("read")], nextCursor: "2" };
  await host.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "read" } });
  await raw.request("tools/list");
  await host.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  await expect.poll(() => raw.requests("tools/list").length).toBe(2);
  const [own, hosts] = raw.requests("tools/list").map(({ id = null }) => id);
  // The messages arrive one at a time, as a connection delivers them.
  await raw.say({ jsonrpc: "2.0", id: hosts ?? null, result: page });
  await raw.say({ jsonrpc: "2.0", id: own ?? null, result: { tools: [tool("read")] } });
  expect(await host.answerTo(1)).toMatchObject({ result: { content: [] } });
});

test("a tool whose definition has changed on a later page of a list is refused at the next call", async () => {
  const raw = server([tool("read")]);
  const { host } = await openTestGate([raw], { operations: ["read"] });
  const call = { method: "tools/call", params: { name: "read" } };
  raw.answers["tools/call"] = { content: [] };
  expect(await host.ask({ id: 1, ...call })).toMatchObject({ result: { content: [] } });
  raw.answers["tools/list"] = { tools: [tool("read", "other")] };
  expect(namesIn(await host.ask({ id: 2, method: "tools/list", params: { cursor: "2" } }))).toEqual(
    [],
  );
  expect(refusalIn(await host.ask({ id: 3, ...call })).codes).toEqual(["tool_changed"]);
});

/** Makes each page of a server's lists refer to a next page. */
function withoutEnd(raw: RawServer, member: string, entries: readonly JsonObject[]): RawServer {
  raw.answers["initialize"] = { capabilities: { tools: {}, resources: {} } };
  for (const method of ["tools/list", "resources/list", "resources/templates/list"]) {
    raw.answers[method] = { [member]: entries, nextCursor: "more" };
  }
  return raw;
}

test.each([
  ["tools with long descriptions", [{ ...tool("read"), description: "a".repeat(1_000_000) }]],
  ["many tools", Array.from({ length: 1000 }, (_, at) => tool(`read${at}`))],
])(
  "a call fails with server_unreadable if the server's list of %s has no end",
  async (_, tools) => {
    const raw = withoutEnd(new RawServer(), "tools", tools);
    const { host } = await openTestGate([raw], { anyOperation: true });
    const answer = await host.ask({ id: 1, method: "tools/call", params: { name: "read" } });
    expect(answer).toMatchObject({ error: { code: -31502, data: { code: "server_unreadable" } } });
    expect(raw.requests("tools/list").length).toBeLessThan(20);
  },
);

test.each([
  ["tools/list", "tools", "good__read"],
  ["resources/list", "resources", "read"],
])(
  "with several servers, %s leaves out a server whose list has no end",
  async (method, member, name) => {
    const entry = { ...tool("read"), uri: "db://read" };
    const endless = withoutEnd(new RawServer("endless"), member, [
      { ...entry, description: "a".repeat(1_000_000) },
    ]);
    const good = new RawServer("good");
    good.answers[method] = { [member]: [entry] };
    const { host, log } = await openTestGate([endless, good], { anyOperation: true });
    const answer = await host.ask({ id: 1, method });
    expect(namesIn(answer, member)).toEqual([name]);
    expect(log.join()).toMatch(/endless has more than \d+ characters/);
    expect(endless.requests(method).length).toBeLessThan(20);
  },
);

test("after this process was stopped for longer than revocations are trusted, lists and calls work at once", async () => {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("read")] };
  server.answers["prompts/get"] = { messages: [] };
  server.answers["tools/call"] = { content: [] };
  const operations = ["read", "prompts:get"];
  const { host } = await openTestGate([server], { operations }, { staleAfter: 0.2 });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  const answers = await Promise.all([
    host.ask({ id: 1, method: "tools/list" }),
    host.ask({ id: 2, method: "tools/call", params: { name: "read" } }),
    host.ask({ id: 3, method: "prompts/get", params: { name: "greet" } }),
  ]);
  expect(answers).toMatchObject([
    { result: { tools: [{ name: "read" }] } },
    { result: { content: [] } },
    { result: { messages: [] } },
  ]);
});
