import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import type { HopInit } from "../../../src/caveats/hop.js";
import {
  createMcpPlugin,
  createProcPlugin,
  createToolsPlugin,
  type SessionPlugin,
} from "../../../src/protocols/a2e/index.js";
import { closed } from "./plugins/calls.js";
import { type HostChoices, type Hosted, hosted, Peer } from "./support.js";

// Tests that lists show exactly what the session's tokens allow. A token may limit an argument that a list does not
// have; the list is not refused for that.

const input = { type: "object" };
const TOOLS = await createToolsPlugin({
  tools: ["add", "echo", "drop"].map((name) => ({
    name,
    description: `It can ${name}`,
    input,
    run: () => name,
  })),
});

/** Two servers with three tools, like those of the MCP plugin. */
const SERVERS: SessionPlugin = {
  name: "servers",
  type: "mcp",
  operations: {
    "mcp/list": {
      listing: true,
      run: async ({ server, mayCall }) =>
        server === undefined
          ? ["graph", "files"].filter((one) => mayCall("mcp/call", { server: one }))
          : ["read", "write"].filter((name) => mayCall("mcp/call", { server, name })),
    },
    "mcp/call": {
      run: async ({ name = "", server = "", arguments: given }) => [server, name, given],
    },
  },
};

async function listed(
  type: "tools" | "mcp" | "proc",
  tokens: (host: Hosted) => readonly string[],
  message: JsonObject,
  choices: HostChoices = {},
): Promise<Json> {
  const host = await hosted({ plugins: [TOOLS, SERVERS], ...choices });
  const peer = await Peer.at(host.port);
  const session = await peer.open([type], tokens(host));
  peer.send({ id: "l", session_id: session, ...message });
  const answer = await peer.next();
  return answer?.["data"] ?? answer?.["code"] ?? null;
}

const names = (list: Json): Json =>
  JSON.parse(JSON.stringify(list)).tools.map(({ name }: { name: string }) => name);

test("tool/list shows each tool that a token allows, even if the token limits the tool's arguments", async () => {
  const list = { type: "tool/list/req" };
  const all = await listed("tools", ({ token }) => [token("tools")], list);
  expect(names(all)).toEqual(["add", "echo", "drop"]);
  const constraints = { tool_name: "add", amount: { max: 5 } };
  const one = await listed("tools", ({ token }) => [token("tools", { constraints })], list);
  expect(names(one)).toEqual(["add"]);
  const two = await listed(
    "tools",
    ({ token }) => [
      token("tools", { constraints: { tool_name: { not_in: ["add", "drop"] } } }),
      token("tools", { constraints: { tool_name: "drop", x: 1 } }),
      // A token that only allows `tool/list` shows no tools.
      token("tools", { operations: ["tool/list"] }),
    ],
    list,
  );
  expect(names(two)).toEqual(["echo", "drop"]);
});

test("tool/list applies the limits that a token sets on single operations", async () => {
  const list = { type: "tool/list/req" };
  const shown = async (...hops: readonly HopInit[]): Promise<Json> =>
    names(await listed("tools", ({ token }) => hops.map((hop) => token("tools", hop)), list));
  const call = (limits: NonNullable<HopInit["operationConstraints"]>[string]): HopInit => ({
    operationConstraints: { "tool/call": limits },
  });
  expect(await shown(call({ tool_name: "add", amount: { max: 5 } }))).toEqual(["add"]);
  expect(await shown(call({ tool_name: { prefix: "e" } }))).toEqual(["echo"]);
  expect(
    await shown({ operationConstraints: { "tool/list": { tool_name: { absent: true } } } }),
  ).toEqual(["add", "echo", "drop"]);
  // The name of the tool is an argument, too: a closed list of arguments without `tool_name` allows no tool.
  expect(await shown({ arguments: { "tool/call": ["amount", "tool_name"] } })).toHaveLength(3);
  expect(await shown({ arguments: { "tool/call": ["amount"] } })).toEqual([]);
});

test("tool/list is refused if the token or the policy does not allow the operation tool/list", async () => {
  const list = { type: "tool/list/req" };
  const operations = ["tool/call"];
  expect(await listed("tools", ({ token }) => [token("tools", { operations })], list)).toBe(
    "permission_denied",
  );
  const rules = { rules: [{ principal: "alice", grant: "a2e:tools", operations }] };
  expect(await listed("tools", ({ token }) => [token("tools")], list, { world: { rules } })).toBe(
    "permission_denied",
  );
});

test("mcp/list is refused if the token does not allow the server that the message names", async () => {
  const constraints = { server: "graph" };
  const tokens = ({ token }: Hosted) => [token("mcp", { constraints })];
  expect(await listed("mcp", tokens, { type: "mcp/list/req" })).toEqual(["graph"]);
  expect(await listed("mcp", tokens, { type: "mcp/list/req", server: "graph" })).toEqual([
    "read",
    "write",
  ]);
  expect(await listed("mcp", tokens, { type: "mcp/list/req", server: "files" })).toBe(
    "permission_denied",
  );
  const reader = { constraints: { server: "graph", tool_name: "read", path: "/a" } };
  const server = "graph";
  expect(
    await listed("mcp", ({ token }) => [token("mcp", reader)], { type: "mcp/list/req", server }),
  ).toEqual(["read"]);
});

test("mcp/list with a server that the token does not allow is refused, even if the token limits 20 other arguments first", async () => {
  // More limits than a denial names: a denial names only the first sixteen limits of a hop.
  const missing = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`a${at}`, 1] as const));
  const token = ({ token: minted }: Hosted) => [
    minted("mcp", { constraints: { ...missing, server: "graph" } }),
  ];
  const list = { type: "mcp/list/req", server: "files" };
  expect(await listed("mcp", token, list)).toBe("permission_denied");
});

test("an operation without listing: true is refused if the token limits an argument that the message lacks", async () => {
  const plain: SessionPlugin = {
    name: "plain",
    type: "tools",
    operations: {
      "tool/list": { run: async () => ["everything"] },
      "tool/call": { run: async () => null },
    },
  };
  const tokens = ({ token }: Hosted) => [token("tools", { constraints: { tool_name: "add" } })];
  for (const plugins of [[plain], [plain, TOOLS]]) {
    const list = await listed("tools", tokens, { type: "tool/list/req" }, { plugins });
    expect(list).toBe("permission_denied");
  }
});

test("an MCP tool's arguments called server and tool_name are judged apart from the message's properties", async () => {
  const call = {
    type: "mcp/call/req",
    server: "graph",
    tool_name: "read",
    arguments: { server: "files", tool_name: "write" },
  };
  const by = (
    constraints: { readonly [argument: string]: string },
    message: JsonObject = call,
  ): Promise<Json> => listed("mcp", ({ token }) => [token("mcp", { constraints })], message);
  const done = ["graph", "read", { server: "files", tool_name: "write" }];
  expect(await by({ tool_name: "read" })).toEqual(done);
  expect(await by({ server: "graph", "arguments.server": "files" })).toEqual(done);
  // The property `server` and the argument `server` are judged separately.
  expect(await by({ server: "files" })).toBe("permission_denied");
  expect(await by({ tool_name: "write" })).toBe("permission_denied");
  expect(await by({ "arguments.server": "graph" })).toBe("permission_denied");
  const { server: _, ...unnamed } = call;
  expect(await by({ tool_name: "read" }, unnamed)).toBe("message_invalid");
  const twice = { ...call, arguments: { ...call.arguments, "arguments.server": "graph" } };
  expect(await by({ "arguments.server": "graph" }, twice)).toBe("message_invalid");
  const bare = { ...call, arguments: { "arguments.server": "graph" } };
  expect(await by({ "arguments.server": "graph" }, bare)).toBe("message_invalid");
});

const PAY = await createToolsPlugin({
  tools: [
    {
      name: "pay",
      description: "Pays",
      input: {
        type: "object",
        properties: { to: { type: "string" }, amount: { type: "number", maximum: 1000 } },
        required: ["to"],
      },
      run: () => null,
    },
  ],
});

/** Returns the schemas of the tools or programs in a list. */
async function schemas(
  type: "tools" | "mcp" | "proc",
  hops: readonly HopInit[],
  message: JsonObject,
  plugin: SessionPlugin,
): Promise<readonly JsonObject[]> {
  const tokens = ({ token }: Hosted) => hops.map((hop) => token(type, hop));
  const { tools, programs } = JSON.parse(
    JSON.stringify(await listed(type, tokens, message, { plugins: [plugin] })),
  );
  return (tools ?? programs).map(({ input: schema }: { input: JsonObject }) => schema);
}

test("tool/list narrows a tool's schema to the arguments that the token allows", async () => {
  const shown = (...hops: readonly HopInit[]) =>
    schemas("tools", hops, { type: "tool/list/req" }, PAY);
  const hop: HopInit = {
    constraints: { tool_name: "pay" },
    operationConstraints: { "tool/call": { amount: { max: 50 }, tool_name: { prefix: "p" } } },
    arguments: { "tool/call": ["amount", "to", "tool_name"] },
  };
  const narrowed = {
    type: "object",
    properties: { to: { type: "string" }, amount: { type: "number", maximum: 50 } },
    required: ["to", "amount"],
    additionalProperties: false,
  };
  expect(await shown(hop)).toEqual([narrowed]);
  // With several tokens, the schema allows what at least one token allows. A token that allows no call is ignored.
  const [whole] = await shown(hop, {});
  expect(whole).toEqual({
    type: "object",
    properties: { to: { type: "string" }, amount: { type: "number", maximum: 1000 } },
    required: ["to"],
  });
  expect(await shown(hop, { constraints: { tool_name: "drop" } })).toEqual([narrowed]);
});

test("mcp/list and proc/list narrow the schemas of tools and programs to the arguments that the token allows", async () => {
  const memory = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/server-memory/dist/index.js",
  );
  const servers = { graph: { command: process.execPath, args: [memory] } };
  const hop: HopInit = {
    operationConstraints: {
      "mcp/call": {
        tool_name: "search_nodes",
        query: { prefix: "alice" },
        "arguments.server": { absent: true },
      },
    },
  };
  const list = { type: "mcp/list/req", server: "graph" };
  const [search] = await schemas("mcp", [hop], list, closed(createMcpPlugin({ servers })));
  expect(search).toMatchObject({
    $schema: expect.stringContaining("json-schema.org"),
    properties: {
      query: { type: "string", description: expect.any(String), pattern: "^alice" },
      server: { not: {} },
    },
    required: ["query"],
  });
  const programs = {
    wait: {
      command: "sleep",
      description: "Waits",
      args: ["{seconds}"],
      parameters: { seconds: { type: "integer", minimum: 1, maximum: 60 } },
    },
  };
  const short = { operationConstraints: { "proc/start": { seconds: { max: 5 } } } };
  const proc = closed(await createProcPlugin({ programs }));
  expect(await schemas("proc", [short], { type: "proc/list/req" }, proc)).toMatchObject([
    { properties: { seconds: { type: "integer", minimum: 1, maximum: 5 } } },
  ]);
});
