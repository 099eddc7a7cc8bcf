import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import { openGateSession } from "../../../../src/protocols/mcp/gate/gate-session.js";
import { NEW_META, objectIn, openTestGate, RawServer, refusalIn, tool } from "./support.js";

const ALL = { anyOperation: true };

function named(
  name: string,
  tools: readonly JsonObject[],
  capabilities: JsonObject = { tools: {} },
): RawServer {
  const server = new RawServer(name);
  server.answers["initialize"] = {
    protocolVersion: name === "old" ? "2024-11-05" : "2025-11-25",
    capabilities,
    serverInfo: { name, version: "1" },
    instructions: `use ${name}`,
  };
  server.answers["tools/list"] = { tools };
  server.answers["tools/call"] = { content: [{ type: "text", text: `from ${name}` }] };
  return server;
}

test("initialize of several servers is answered with the lowest version, every capability and all instructions", async () => {
  const servers = [
    named("files", [], { tools: { listChanged: false }, resources: { subscribe: true } }),
    named("old", [], { tools: {}, prompts: {} }),
  ];
  const { host } = await openTestGate(servers, ALL);
  const opened = await host.ask({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25" },
  });
  expect(opened["result"]).toEqual({
    protocolVersion: "2024-11-05",
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
    },
    serverInfo: expect.objectContaining({ title: "proviso" }),
    instructions: "files: use files\n\nold: use old",
  });
  await host.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  for (const server of servers) {
    expect(server.requests("notifications/initialized")).toHaveLength(1);
  }
});

test("with several servers, a tool is named SERVER__TOOL for the host and SERVER/TOOL in a token", async () => {
  const files = named("files", [tool("read"), tool("write")]);
  const web = named("web", [tool("read"), tool("a".repeat(70)), tool("dot.ted")]);
  const { host, log } = await openTestGate([files, web], {
    operations: ["files/read", `web/${"a".repeat(70)}`, "web/dot.ted", "web/read"],
    operationConstraints: { "web/read": { path: "/x" } },
  });
  const list = await host.ask({ id: 1, method: "tools/list" });
  const tools = objectIn(list, "result")["tools"];
  expect(Array.isArray(tools) && tools.map(({ name }) => name)).toEqual([
    "files__read",
    "web__read",
  ]);
  expect(log.join()).toMatch(/dot\.ted.*hidden/);
  const call = (id: number, name: string) =>
    host.ask({ id, method: "tools/call", params: { name, arguments: {} } });
  expect(await call(2, "files__read")).toMatchObject({
    result: { content: [{ text: "from files" }] },
  });
  expect(objectIn(await files.request("tools/call"), "params")["name"]).toBe("read");
  expect(refusalIn(await call(3, "web__read")).codes).toEqual(["constraint_violated"]);
  for (const name of ["files__write", "read", "files/read", "nobody__read", "__read"]) {
    expect(refusalIn(await call(10 + name.length, name)).codes).toEqual(["operation_denied"]);
  }
  expect(web.requests("tools/call")).toEqual([]);
});

test("with several servers, tools/list returns every page of each server's tools, and omits the tools of a server that has ended", async () => {
  const one = named("one", []);
  const pages: Record<string, JsonObject> = {
    first: { tools: [tool("a")], nextCursor: "second" },
    second: { tools: [tool("b")] },
  };
  one.answers["tools/list"] = (request) =>
    pages[String(objectIn(request, "params")["cursor"] ?? "first")];
  const two = named("two", [tool("c")]);
  const { host } = await openTestGate([one, two], ALL);
  await host.ask({ id: 1, method: "initialize", params: {} });
  const names = async (id: number) => {
    const tools = objectIn(await host.ask({ id, method: "tools/list" }), "result")["tools"];
    return Array.isArray(tools) ? tools.map(({ name }) => name) : [];
  };
  expect(await names(2)).toEqual(["one__a", "one__b", "two__c"]);
  one.end({ code: "server_ended", message: "the server one has ended" });
  expect(await names(3)).toEqual(["two__c"]);
  const answer = await host.ask({ id: 4, method: "tools/call", params: { name: "one__a" } });
  expect(answer).toMatchObject({ error: { data: { code: "server_ended" } } });
});

test("a resource is read from the server that lists it, or else from the server with the closest template", async () => {
  const capabilities = { resources: {} };
  const one = named("one", [], capabilities);
  const two = named("two", [], capabilities);
  for (const [server, uri, uriTemplate] of [
    [one, "db://a", "db://{table}"],
    [two, "db://b", "db://logs/{day}"],
  ] as const) {
    server.answers["resources/list"] = { resources: [{ uri, name: "r" }] };
    server.answers["resources/templates/list"] = {
      resourceTemplates: [{ uriTemplate, name: "t" }],
    };
    server.answers["resources/read"] = { contents: [{ uri, text: server.name ?? "" }] };
  }
  const { host } = await openTestGate([one, two], {
    operations: ["one/resources:read", "two/resources:read"],
  });
  await host.ask({ id: 0, method: "initialize", params: {} });
  const read = async (id: number, uri: string) =>
    JSON.stringify(await host.ask({ id, method: "resources/read", params: { uri } }));
  expect(await read(1, "db://a")).toContain('"text":"one"');
  expect(await read(2, "db://b")).toContain('"text":"two"');
  expect(await read(3, "db://c")).toContain('"text":"one"');
  expect(await read(4, "db://logs/1")).toContain('"text":"two"');
  expect(await read(5, "http://x")).toContain("-31403");
});

test("with several servers, server/discover fails if one does not speak the new era, and otherwise returns the common versions", async () => {
  const modern = named("modern", []);
  const result = {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    ttlMs: 9,
    cacheScope: "public",
  };
  modern.answers["server/discover"] = result;
  const legacy = named("legacy", []);
  const { host } = await openTestGate([modern, legacy], ALL);
  const discover = {
    jsonrpc: "2.0",
    id: 1,
    method: "server/discover",
    params: { _meta: NEW_META },
  };
  await host.send(discover, { era: "new" });
  const { id = null } = await legacy.request("server/discover");
  await legacy.say({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } });
  expect(await host.answerTo(1)).toMatchObject({ error: { code: -32601 } });
  legacy.answers["server/discover"] = {
    ...result,
    supportedVersions: ["2026-07-28", "2027-01-01"],
  };
  expect(await host.ask({ ...discover, id: 2 }, { era: "new" })).toMatchObject({
    result: { supportedVersions: ["2026-07-28"], ttlMs: 0, cacheScope: "private" },
  });
});

test.each([
  [["a", "a"], /two named a/],
  [["a__b", "c"], /"a__b" must be/],
  [["a_", "c"], /"a_" must be/],
  [["a/b"], /"a\/b" must be/],
  [[undefined, "b"], /servers\[0\]: one of several/],
  [[], /at least one/],
])("openGateSession refuses servers with the names %j", (names, message) => {
  const servers = names.map((name) => new RawServer(name));
  expect(() =>
    openGateSession({
      servers,
      authority: { onChange: () => () => {} } as never,
      pins: { check: async () => new Set(), unchanged: async () => new Set() },
      log: () => {},
    }),
  ).toThrow(message);
});

test("with several servers, one that does not answer initialize is left out, and later lists do not wait for that server", async () => {
  const mute = new RawServer("mute");
  const good = named("good", [tool("read")]);
  const { host, log } = await openTestGate([mute, good], ALL, { shareWithin: 200 });
  expect(await host.ask({ id: 1, method: "initialize", params: {} })).toMatchObject({
    result: { protocolVersion: "2025-11-25", instructions: "good: use good" },
  });
  expect(await host.ask({ id: 2, method: "tools/list" })).toMatchObject({
    result: { tools: [{ name: "good__read" }] },
  });
  expect(log.join()).toContain("the server mute has not answered within 0.2 seconds");
  expect(mute.requests("tools/list")).toEqual([]);
});

test("with several servers, one that answers initialize with an unknown version is left out", async () => {
  const odd = named("odd", []);
  odd.answers["initialize"] = { protocolVersion: "0000", capabilities: {}, instructions: "evil" };
  const { host, log } = await openTestGate([odd, named("good", [])], ALL);
  expect(await host.ask({ id: 1, method: "initialize", params: {} })).toMatchObject({
    result: { protocolVersion: "2025-11-25", instructions: "good: use good" },
  });
  expect(log.join()).toContain('the server odd is left out: it answers with the version "0000"');
});
