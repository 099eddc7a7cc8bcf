import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import { openTestGate, RawServer, type TestGate, tool } from "./support.js";

const KEY = "dev.proviso/capability";

interface Opened extends TestGate {
  readonly server: RawServer;
  /** A token that is not the gate's own. */
  readonly token: string;
}

/**
 * Opens a session with an open call of the host, and with open requests of the server: one with progress, and one that
 * the host runs as a task.
 */
async function opened(): Promise<Opened> {
  const server = new RawServer();
  server.answers["initialize"] = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "raw", version: "1" },
  };
  server.answers["tools/list"] = { tools: [tool("read", "path")] };
  const gate = await openTestGate([server], { operations: ["read", "client:sampling"] });
  const { host } = gate;
  await host.ask({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  await host.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "read" } });
  await server.request("tools/call");
  for (const id of ["model", "task"]) {
    const params = { messages: [], maxTokens: 1, _meta: { progressToken: id } };
    await server.say({ jsonrpc: "2.0", id, method: "sampling/createMessage", params });
  }
  await expect.poll(() => host.received.join()).toContain('"id":2,"method":"sampling');
  const created = { task: { taskId: "t", status: "working" } };
  await host.send({ jsonrpc: "2.0", id: 2, result: created });
  server.received.length = 0;
  return { ...gate, server, token: gate.mint({ operations: ["read"] }) };
}

function notification(method: string, params: JsonObject): JsonObject {
  return { jsonrpc: "2.0", method: `notifications/${method}`, params };
}

test.each<[string, (_meta: JsonObject) => JsonObject]>([
  ["cancelled", (_meta) => notification("cancelled", { requestId: 2, _meta })],
  ["progress", (_meta) => notification("progress", { progressToken: 1, progress: 1, _meta })],
  ["tasks/status", (_meta) => notification("tasks/status", { taskId: "t", status: "done", _meta })],
  ["roots/list_changed", (_meta) => notification("roots/list_changed", { _meta })],
  ["an answer", (_meta) => ({ jsonrpc: "2.0", id: 1, result: { role: "user", _meta } })],
])("the gate removes the tokens in _meta from a message to the server: %s", async (_, message) => {
  const { host, server, token } = await opened();
  await host.send(message({ [KEY]: token, note: "kept" }));
  await expect.poll(() => server.received.join()).toContain('"note":"kept"');
  expect(server.received.join()).not.toContain(token);
  expect(server.received.join()).not.toContain(KEY);
});

test.each<[string, (token: string) => JsonObject]>([
  ["the reason of a cancellation", (reason) => notification("cancelled", { requestId: 2, reason })],
  [
    "the _meta of a notification",
    (token) => notification("progress", { progressToken: 1, _meta: { other: token } }),
  ],
  [
    "the name of a property",
    (token) => notification("roots/list_changed", { _meta: { [token]: 1 } }),
  ],
  ["an answer", (token) => ({ jsonrpc: "2.0", id: 1, result: { content: `my key: ${token}` } })],
])("a message with the gate's own token in %s does not reach the server", async (_, message) => {
  const { host, server, ownToken, log } = await opened();
  await host.send(message(ownToken));
  await expect.poll(() => log.join()).toContain("a token stands in a part of the message");
  await host.ask({ id: 9, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  expect(server.received.join()).not.toContain(ownToken);
});

test("a request with the gate's own token in another property of _meta is refused", async () => {
  const { host, server, ownToken } = await opened();
  const _meta = { other: [ownToken] };
  const params = { name: "read", arguments: { path: "/data" }, _meta };
  expect(await host.ask({ id: 3, method: "tools/call", params })).toMatchObject({
    error: { code: -32602 },
  });
  expect(server.requests("tools/call")).toEqual([]);
});

test.each([
  ["as it is", (token: string) => token],
  ["in base64", (token: string) => `=?base64?${Buffer.from(token).toString("base64")}?=`],
])("a request is refused if a header for the server contains the token %s", async (_, header) => {
  const { host, server, token } = await opened();
  const params = { name: "read", arguments: { path: "/data" } };
  const given = { credentials: [token], headers: { "mcp-param-path": header(token) } };
  expect(await host.ask({ id: 3, method: "tools/call", params }, given)).toMatchObject({
    error: { code: -32602 },
  });
  expect(server.requests("tools/call")).toEqual([]);
});

test("a message with more than 8 tokens is refused before the gate searches the message for the tokens", async () => {
  const { host, server } = await opened();
  const texts = (prefix: string) => Array.from({ length: 50_000 }, (_, at) => `${prefix}${at}`);
  const params = { text: texts("x"), _meta: { [KEY]: texts("t") } };
  expect(await host.ask({ id: 9, method: "ping", params })).toMatchObject({
    error: { code: -32602, message: expect.stringContaining("at most 8 tokens") },
  });
  expect(server.requests("ping")).toEqual([]);
});
