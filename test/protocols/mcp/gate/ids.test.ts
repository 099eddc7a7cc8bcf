import { expect, test } from "vitest";
import { NEW_META, objectIn, openTestGate, RawServer, tool } from "./support.js";

const READ = { operations: ["read"] };

/** A server whose calls stay open until the test answers. */
function slowServer(): RawServer {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("read")] };
  return server;
}

function read(id: string | number, _meta = {}) {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: "read", _meta } };
}

test("answers in any order reach their requests, whether the ids are numbers or strings", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  for (const id of [1, "1", 2]) await host.send(read(id));
  await server.request("tools/call");
  const ids = server.requests("tools/call").map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
  for (const [at, id] of ids.entries()) {
    await server.say({ jsonrpc: "2.0", id: id ?? null, result: { content: [], at } });
  }
  expect(await host.answerTo("1")).toMatchObject({ id: "1", result: { at: 1 } });
  expect(await host.answerTo(1)).toMatchObject({ id: 1, result: { at: 0 } });
});

test("a second request with an id that is still open is refused, and the first request is answered", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  await host.send(read(1));
  await server.request("tools/call");
  await host.send(read(1));
  // The error has no id, because an error with this id would answer the first request.
  expect(await host.answerTo(undefined)).toMatchObject({ error: { code: -32600 } });
  const { id = null } = await server.request("tools/call");
  await server.say({ jsonrpc: "2.0", id, result: { content: [] } });
  expect(await host.answerTo(1)).toMatchObject({ result: { content: [] } });
  expect(server.requests("tools/call")).toHaveLength(1);
});

test("clients that share a session may use the same id, and both get answers", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ, { stateless: true });
  await host.send(read(1, NEW_META), { era: "new" });
  await host.send(read(1, NEW_META), { era: "new" });
  await server.request("tools/call");
  for (const { id = null } of server.requests("tools/call")) {
    await server.say({
      jsonrpc: "2.0",
      id,
      result: { resultType: "complete", content: [], of: id },
    });
  }
  expect(host.messages.map(({ id }) => id)).toEqual([1, 1]);
});

test.each([
  ["an unknown id", { jsonrpc: "2.0", id: 999, result: { content: ["evil"] } }],
  ["the host's id", { jsonrpc: "2.0", id: "host", result: { content: ["evil"] } }],
  ["an id that was answered before", { jsonrpc: "2.0", id: 2, result: { content: ["evil"] } }],
  ["a string as its id", { jsonrpc: "2.0", id: "2", result: { content: ["evil"] } }],
])("the answer of a server with %s does not reach the host", async (_, evil) => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  await host.send(read("host"));
  await server.request("tools/call");
  if (evil.id !== 2) await server.say(evil);
  await server.say({ jsonrpc: "2.0", id: 2, result: { content: [] } });
  await server.say(evil);
  expect(await host.answerTo("host")).toMatchObject({ result: { content: [] } });
  expect(host.received.join()).not.toContain("evil");
});

test.each([
  ["a batch", '[{"jsonrpc":"2.0","id":2,"result":{"content":["evil"]}}]'],
  [
    "a property twice",
    '{"jsonrpc":"2.0","id":2,"result":{"content":[]},"result":{"content":["evil"]}}',
  ],
  ["text that is not JSON", "evil"],
])("a line of a server with %s is dropped, and logged as unreadable", async (_, evil) => {
  const server = slowServer();
  const { host, log } = await openTestGate([server], READ);
  await host.send(read(1));
  await server.request("tools/call");
  await server.say(evil);
  expect(host.received.join()).not.toContain("evil");
  expect(log.join()).toContain("unreadable");
});

test("progress reaches only the request that asked for it, under the host's progress token", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  await host.send(read(1, { progressToken: "mine" }));
  await host.send(read(2));
  await server.request("tools/call");
  const [first = {}] = server.requests("tools/call");
  const { progressToken = null } = objectIn(objectIn(first, "params"), "_meta");
  expect(progressToken).not.toBe("mine");
  const progress = (token: typeof progressToken) =>
    server.say({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: token, progress: 1 },
    });
  await progress(progressToken);
  await progress("mine");
  await progress(12345);
  expect(host.messages).toEqual([
    {
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: "mine", progress: 1 },
    },
  ]);
});

test("a request that the host cancels is cancelled at the server, and its late answer is dropped", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  await host.send(read("a"));
  const { id = null } = await server.request("tools/call");
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled" };
  await host.send({ ...cancelled, params: { requestId: "b", reason: "unknown" } });
  await host.send({ ...cancelled, params: { requestId: "a", reason: "enough" } });
  expect(await server.request("notifications/cancelled")).toEqual({
    ...cancelled,
    params: { requestId: id, reason: "enough" },
  });
  expect(server.requests("notifications/cancelled")).toHaveLength(1);
  await server.say({ jsonrpc: "2.0", id, result: { content: [] } });
  expect(host.received).toEqual([]);
});

test("in the new era, a request is cancelled at the server when its client disconnects", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  const caller = new AbortController();
  await host.send(read(1, NEW_META), { era: "new", signal: caller.signal });
  const { id = null } = await server.request("tools/call");
  caller.abort();
  expect(await server.request("notifications/cancelled")).toMatchObject({
    params: { requestId: id },
  });
});

test("a request that the server does not answer in time fails with server_timeout", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ, { answerWithin: 200 });
  expect(await host.ask(read(1))).toMatchObject({
    error: { code: -31504, data: { code: "server_timeout" } },
  });
  expect(await server.request("notifications/cancelled")).toBeDefined();
});

test("when a server ends, pending and later requests to it fail with server_ended", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  await host.send(read(1));
  await server.request("tools/call");
  server.end({ code: "server_ended", message: "the server has ended with exit code 3" });
  const ended = {
    code: -31503,
    message: expect.stringContaining("exit code 3"),
    data: { code: "server_ended" },
  };
  expect(await host.answerTo(1)).toMatchObject({ error: ended });
  expect(await host.ask(read(2))).toMatchObject({ error: ended });
});

test("a request whose answer cannot be read fails with server_unreadable", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  await host.send(read("mine"));
  const { id } = await server.request("tools/call");
  await server.say(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"content":["evil"]}}`);
  expect(await host.answerTo("mine")).toMatchObject({
    error: {
      code: -31502,
      message: expect.stringContaining("sent an answer that is not an MCP message: "),
      data: { code: "server_unreadable" },
    },
  });
  expect(host.received.join()).not.toContain("evil");
});

test("while a server does not read, the gate takes no further calls from the host, and no call is lost", async () => {
  const server = slowServer();
  const { host } = await openTestGate([server], READ);
  await host.ask({ id: "list", method: "tools/list" });
  let isReading = false;
  const waiting: (() => void)[] = [];
  const take = server.send.bind(server);
  server.send = async (text) => {
    if (!isReading) await new Promise<void>((resolve) => waiting.push(resolve));
    await take(text);
  };
  let taken = 0;
  const all = Array.from({ length: 300 }, (_, at) => read(at));
  const sending = (async () => {
    for (const one of all) {
      await host.send(one);
      taken++;
    }
  })();
  await expect.poll(() => waiting.length).toBeGreaterThan(200);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(taken).toBeLessThan(300);
  isReading = true;
  for (const resolve of waiting) resolve();
  await sending;
  await expect.poll(() => server.requests("tools/call").length).toBe(300);
});
