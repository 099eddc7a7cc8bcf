import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import { openTestGate, RawServer, refusalIn, tool } from "./support.js";

const TOOLS = { operations: ["read", "completion:complete", "client:roots"] };

test.each<[string, string, JsonObject]>([
  ["a tool's name", "tools/call", { name: "read", arguments: {}, NAME: "delete" }],
  ["a cursor", "tools/list", { Cursor: "2" }],
  ["a reference", "completion/complete", { ref: { type: "ref/prompt", name: "a", Name: "b" } }],
  ["the type of a reference", "completion/complete", { ref: { Type: "ref/prompt", name: "a" } }],
  [
    "an argument's value",
    "completion/complete",
    { ref: { type: "ref/prompt", name: "a" }, argument: { name: "x", value: "1", Value: "2" } },
  ],
  ["a progress token", "tools/call", { name: "read", _meta: { ProgressToken: 1 } }],
  [
    "dev.proviso/capability",
    "tools/call",
    { name: "read", _meta: { "Dev.Proviso/Capability": "x" } },
  ],
])("a request with another spelling of %s does not reach the server", async (_, method, params) => {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("read"), tool("delete")] };
  const { gate, host } = await openTestGate([server], TOOLS);
  // Two spellings in the same object are refused before the gate sees them.
  const value = { jsonrpc: "2.0", id: 1, method, params };
  const message = { text: JSON.stringify(value), value, kind: "request", id: 1, method } as const;
  const { signal } = new AbortController();
  const send = async (text: string): Promise<void> => void host.received.push(text);
  await gate.receive(message, { credentials: [], era: "old", signal, send });
  expect(await host.answerTo(1)).toMatchObject({ error: { code: -32602 } });
  expect(server.requests(method)).toEqual([]);
});

test.each([
  ["a list", { tools: [tool("read")], Tools: [tool("delete")] }],
  ["a tool's name", { tools: [{ ...tool("read"), Name: "delete" }] }],
  ["a tool's schema", { tools: [{ ...tool("read"), inputschema: { type: "string" } }] }],
  ["inputRequests", { tools: [], InputRequests: { a: { method: "roots/list" } } }],
  [
    "the method of an input request",
    { tools: [], inputRequests: { a: { method: "roots/list", Method: "elicitation/create" } } },
  ],
])("an answer with another spelling of %s does not reach the host", async (_, result) => {
  const server = new RawServer();
  server.answers["tools/list"] = result;
  const { host } = await openTestGate([server], TOOLS);
  expect(await host.ask({ id: 1, method: "tools/list" })).toMatchObject({
    error: { code: -31502, data: { code: "server_unreadable" } },
  });
});

test("an error that asks the host to open a URL does not reach the host if its property names are in another letter case", async () => {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("read")] };
  server.answers["tools/call"] = ({ id = 0 }) => {
    const data = { Elicitations: [{ mode: "url", url: "https://evil.example" }] };
    const error = { code: -32000, Code: -32042, message: "", data };
    void server.say({ jsonrpc: "2.0", id, error });
    return undefined;
  };
  const { host } = await openTestGate([server], TOOLS);
  const answer = await host.ask({ id: 1, method: "tools/call", params: { name: "read" } });
  expect(answer).toMatchObject({ error: { data: { code: "server_unreadable" } } });
  expect(host.received.join()).not.toContain("evil.example");
});

test.each<[string, JsonObject, string]>([
  [
    "a limited argument that the schema does not name",
    { Path: "/etc/passwd" },
    'the argument "Path" differs in case alone from "path", which a token limits',
  ],
  [
    "a limited property of an argument",
    { options: { Folder: "/etc" } },
    'the argument "Folder" differs in case alone from "folder", which a token limits',
  ],
  [
    "an argument in the tool's schema",
    { path: "/data", NAME: "a" },
    `the argument "NAME" differs in case alone from "name"; write it as the tool's schema does`,
  ],
])("a call with another spelling of %s does not reach the server", async (_, given, message) => {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("read", "name")] };
  const limit = { path: "/data", optional: true } as const;
  const { host } = await openTestGate([server], {
    operations: ["read"],
    operationConstraints: { read: { path: limit, "/options/folder": limit } },
  });
  const params = { name: "read", arguments: given };
  const answer = await host.ask({ id: 1, method: "tools/call", params });
  expect(refusalIn(answer)).toMatchObject({
    codes: ["arguments_invalid"],
    sentence: `Refused by proviso: ${message}.`,
  });
  expect(server.requests("tools/call")).toEqual([]);
});

test.each<[string, JsonObject]>([
  ["inputRequests", { InputRequests: { a: { method: "roots/list" } } }],
  ["a URL", { inputRequests: { a: { method: "elicitation/create", params: { URL: "evil" } } } }],
])(
  "a notification of a task with another spelling of %s does not reach the host",
  async (_, more) => {
    const server = new RawServer();
    const { host, log } = await openTestGate([server], TOOLS);
    const params = { taskId: "t", status: "input_required", ...more };
    await server.say({ jsonrpc: "2.0", method: "notifications/tasks", params });
    expect(log.join()).toContain("differs in case alone");
    expect(host.received).toEqual([]);
  },
);
