import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../../src/bytes/json.js";
import type { SessionPlugin } from "../../../../src/protocols/a2e/plugin.js";
import {
  createMcpPlugin,
  type McpLimits,
} from "../../../../src/protocols/a2e/plugins/mcp/mcp-plugin.js";
import { FULL } from "../../../support/size.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { call, closed, refusal } from "./calls.js";

/** A published MCP server. */
const MEMORY = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-memory/dist/index.js",
);
/** A small server that misbehaves. */
const ODD = new URL("./odd-mcp-server.mjs", import.meta.url).pathname;

function plugin(limits: McpLimits = {}): SessionPlugin {
  return closed(
    createMcpPlugin({
      servers: {
        graph: {
          command: process.execPath,
          args: [MEMORY],
          env: { MEMORY_FILE_PATH: join(temporaryFolder(), "graph.jsonl") },
        },
        odd: { command: process.execPath, args: [ODD] },
        broken: { command: process.execPath, args: ["-e", "process.exit(1)"] },
        missing: { command: join(temporaryFolder(), "nothing") },
      },
      limits: { startTimeout: 30_000, ...limits },
    }),
  );
}

const odd = (mcp: SessionPlugin, name: string, given: JsonObject = {}, more = {}) =>
  call(mcp, "mcp/call", given, { server: "odd", name, ...more });

/** Returns the misbehaving server's answer to `count`: a counter, and the id of its process. */
async function counted(mcp: SessionPlugin, more = {}): Promise<{ count: number; pid: number }> {
  const { structuredContent } = await odd(mcp, "count", {}, more);
  if (structuredContent === undefined || !isJsonObject(structuredContent))
    throw new Error("no count");
  return { count: Number(structuredContent["count"]), pid: Number(structuredContent["pid"]) };
}

test("the MCP plugin lists and calls the tools of a published MCP server, and answers with isError if a tool fails", async () => {
  const mcp = plugin();
  expect(await call(mcp, "mcp/list")).toEqual({ servers: ["graph", "odd", "broken", "missing"] });
  const { tools } = await call(mcp, "mcp/list", {}, { server: "graph" });
  expect(tools).toContainEqual({
    name: "create_entities",
    description: expect.stringContaining("entities"),
    input: expect.objectContaining({ type: "object", required: ["entities"] }),
  });
  const entity = { name: "tea", entityType: "drink", observations: ["is hot"] };
  const make = { server: "graph", name: "create_entities" };
  expect(await call(mcp, "mcp/call", { entities: [entity] }, make)).toMatchObject({
    structuredContent: { entities: [entity] },
  });
  const found = await call(
    mcp,
    "mcp/call",
    { query: "hot" },
    { server: "graph", name: "search_nodes" },
  );
  expect(found).toMatchObject({ structuredContent: { entities: [entity] } });
  expect(await call(mcp, "mcp/call", {}, make)).toMatchObject({ isError: true });
});

test("each principal has its own MCP server process, which ends with the last session that used it", async () => {
  const mcp = plugin();
  const first = await counted(mcp);
  expect(await counted(mcp, { session: "s2" })).toEqual({ count: 2, pid: first.pid });
  const other = await counted(mcp, { principal: "bob" });
  expect(other.count).toBe(1);
  expect(other.pid).not.toBe(first.pid);
  await mcp.endSession?.({ id: "s1", agentId: "" });
  expect(await counted(mcp, { session: "s2" })).toEqual({ count: 3, pid: first.pid });
  await mcp.endSession?.({ id: "s2", agentId: "" });
  expect(() => process.kill(first.pid, 0)).toThrow("ESRCH");
  expect((await counted(mcp)).count).toBe(1);
});

test("a call fails with a code for the MCP server's failure, and the next call works", async () => {
  const mcp = plugin({ resultBytes: 2000, servers: 2 });
  await counted(mcp);
  const code = async (action: Promise<unknown>): Promise<string> => (await refusal(action)).code;
  expect(await code(odd(mcp, "crash"))).toBe("server_ended");
  expect((await counted(mcp)).count).toBe(1);
  expect(await code(odd(mcp, "large", { bytes: 3000 }))).toBe("result_too_large");
  expect((await counted(mcp)).count).toBe(2);
  // This line exceeds the limit for a line. The server keeps running, and another call is not affected.
  const [huge, next] = await Promise.all([
    refusal(odd(mcp, "large", { bytes: 5_000_000 })),
    counted(mcp),
  ]);
  expect(huge).toMatchObject({ code: "result_too_large", retryable: false });
  expect(next.count).toBe(3);
  expect((await counted(mcp)).count).toBe(4);
  expect(await odd(mcp, "ask")).toMatchObject({
    content: [{ text: expect.stringContaining("refused") }],
  });
  expect(await code(odd(mcp, "unlisted"))).toBe("name_unknown");
  expect(await code(odd(plugin({ timeout: 100 }), "hang"))).toBe("server_timeout");
  const nowhere = { server: "broken", name: "x" };
  expect(await code(call(mcp, "mcp/call", {}, nowhere))).toBe("server_unavailable");
  expect(await code(call(mcp, "mcp/call", {}, { ...nowhere, server: "missing" }))).toBe(
    "server_unavailable",
  );
  expect(await code(call(mcp, "mcp/call", {}, { server: "grahp", name: "x" }))).toBe(
    "server_unknown",
  );
  expect(await code(call(mcp, "mcp/call", {}, { name: "x" }))).toBe("server_unknown");
  await counted(mcp, { principal: "bob" });
  expect(await code(counted(mcp, { principal: "carol" }))).toBe("too_many_servers");
});

if (FULL) {
  test("an MCP server that stops reading is stopped, counts towards the limit until it has exited, and is started again", async () => {
    const mcp = plugin({ timeout: 1500, servers: 1 });
    const first = await counted(mcp);
    expect((await refusal(odd(mcp, "deafen"))).code).toBe("server_timeout");
    const next = counted(mcp);
    expect((await refusal(counted(mcp, { principal: "bob" }))).code).toBe("too_many_servers");
    expect((await next).count).toBe(1);
    expect(() => process.kill(first.pid, 0)).toThrow("ESRCH");
    await odd(mcp, "count");
    // A server is not stopped if only one of its calls is slow.
    expect((await refusal(odd(mcp, "hang"))).code).toBe("server_timeout");
    expect((await counted(mcp)).count).toBe(3);
    // A server of an ended session counts towards the limit until it has stopped.
    const ending = mcp.endSession?.({ id: "s1", agentId: "" });
    expect((await refusal(counted(mcp, { principal: "bob", session: "s2" }))).code).toBe(
      "too_many_servers",
    );
    await ending;
    expect((await counted(mcp, { principal: "bob", session: "s2" })).count).toBe(1);
  });
}

test("mcp/list shows only the servers and tools that the session may call", async () => {
  const mcp = plugin();
  const mayCall = (
    _: string,
    { server, name = "count" }: { server?: string; name?: string } = {},
  ) => server === "odd" && (name === "count" || name === "echo");
  expect(await call(mcp, "mcp/list", {}, { mayCall })).toEqual({ servers: ["odd"] });
  const { tools } = await call(mcp, "mcp/list", {}, { server: "odd", mayCall });
  expect(tools).toMatchObject([{ name: "count" }, { name: "echo" }]);
});

test("mcp/call refuses a tool that the server has withdrawn or never listed", async () => {
  const mcp = plugin();
  expect(await odd(mcp, "echo", { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
  await odd(mcp, "withdraw", { name: "echo" });
  expect((await refusal(odd(mcp, "echo"))).code).toBe("name_unknown");
  for (const name of ["__proto__", "constructor", "toString", "Count", "count ", ""]) {
    expect([name, (await refusal(odd(mcp, name))).code]).toEqual([name, "name_unknown"]);
    const server = call(mcp, "mcp/list", {}, { server: name });
    expect([name, (await refusal(server)).code]).toEqual([name, "server_unknown"]);
  }
});

test("a call that is cancelled before it begins does not keep an MCP server running", async () => {
  const mcp = plugin();
  const { pid } = await counted(mcp);
  const session = "ended before";
  const signal = AbortSignal.abort(new Error("cancelled by the peer"));
  await expect(odd(mcp, "count", {}, { session, signal })).rejects.toThrow("cancelled by the peer");
  await mcp.endSession?.({ id: "s1", agentId: "" });
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("mcp/call returns an answer that contains a text of 100 kB twice", async () => {
  const { structuredContent } = await odd(plugin(), "read", { bytes: 100_000 });
  expect(JSON.stringify(structuredContent).length).toBeGreaterThan(100_000);
});

if (FULL) {
  test("{principal} in a server's configuration gives each principal its own file", async () => {
    const folder = temporaryFolder();
    const env = { MEMORY_FILE_PATH: join(folder, "{principal}.jsonl") };
    const server = { command: process.execPath, args: [MEMORY], env };
    const limits = { startTimeout: 30_000 };
    const mcp = closed(createMcpPlugin({ servers: { graph: server }, limits }));
    const keep = (principal: string) => {
      const entity = { name: principal, entityType: "person", observations: [] };
      const make = { server: "graph", name: "create_entities", principal };
      return call(mcp, "mcp/call", { entities: [entity] }, make);
    };
    for (const principal of ["alice", "Alice", "../alice", "-é-a"]) await keep(principal);
    expect(readdirSync(folder).sort()).toEqual([
      "%2d%c3%a9-a.jsonl",
      "%2e%2e%2falice.jsonl",
      "%41lice.jsonl",
      "alice.jsonl",
    ]);
    const read = { server: "graph", name: "read_graph", principal: "alice" };
    const { structuredContent } = await call(mcp, "mcp/call", {}, read);
    expect(structuredContent).toMatchObject({ entities: [{ name: "alice" }] });
  });
}

test("a cancelled call ends at once, and its MCP server keeps running", async () => {
  const mcp = plugin();
  await counted(mcp);
  const cancel = new AbortController();
  const parts: unknown[] = [];
  const hanging = odd(mcp, "hang", {}, { signal: cancel.signal, parts });
  const ended = expect(hanging).rejects.toThrow("cancelled by the peer");
  await expect.poll(() => parts).toEqual([{ progress: { progress: 1, total: 2 } }]);
  cancel.abort(new Error("cancelled by the peer"));
  await ended;
  expect((await counted(mcp)).count).toBe(2);
});

test("onStderr gets each line that an MCP server writes to standard error", async () => {
  const said: string[] = [];
  const env = { MEMORY_FILE_PATH: join(temporaryFolder(), "graph.jsonl") };
  const mcp = closed(
    createMcpPlugin({
      servers: { graph: { command: process.execPath, args: [MEMORY], env } },
      onStderr: (server, line) => said.push(`${server}: ${line}`),
    }),
  );
  await call(mcp, "mcp/list", {}, { server: "graph" });
  await expect.poll(() => said).toEqual(["graph: Knowledge Graph MCP Server running on stdio"]);
});

test("createMcpPlugin throws an error that names the wrong option", () => {
  const wrong: [unknown, string][] = [
    [{ servers: {} }, "servers: there must be at least one"],
    [
      { servers: { a: { comand: "x" } } },
      'servers.a.comand: unknown property; did you mean "command"?',
    ],
    [{ servers: { a: { command: "" } } }, "servers.a.command: must name a program"],
    [
      { servers: { a: { command: "x", args: [1] } } },
      "servers.a.args: must be an array of strings",
    ],
    [
      { servers: { a: { command: "x" } }, limits: { timeout: 0 } },
      "limits.timeout: must be a whole number",
    ],
  ];
  for (const [options, message] of wrong) {
    expect(() => Reflect.apply(createMcpPlugin, undefined, [options])).toThrow(message);
  }
});
