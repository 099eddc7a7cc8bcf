import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import { createMemoryPlugin, type SessionPlugin } from "../../../../src/protocols/a2e/index.js";
import { SDK_TYPES } from "../../../../src/protocols/a2e/sdk/types.js";
import { createStores } from "../../../../src/stores/database.js";
import { openMemory } from "../../../../src/stores/memory/memory-store.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { type HostChoices, type Hosted, hosted, Peer, plugins } from "../support.js";
import { sdk } from "./support.js";

// Tests the dialect of A2E's published SDK, message by message, as a peer without a library sees it.

const ENVELOPE = { version: "1.0", ts: 1 };

async function opened(
  caps: readonly string[],
  tokens: (host: Hosted) => readonly string[],
  choices: HostChoices = {},
): Promise<{ host: Hosted; peer: Peer; greeting: JsonObject }> {
  const host = await hosted(choices);
  const peer = await Peer.at(host.port);
  peer.send(
    sdk("handshake", { agent_id: "x", agent_caps: caps, auth_token: tokens(host).join(",") }),
  );
  return { host, peer, greeting: (await peer.next()) ?? {} };
}

test("the SDK's handshake selects the SDK's dialect, and the answer leaves out capability names that the SDK cannot read", async () => {
  const caps = ["tools", "memory", "streaming", "artifacts", "planning"];
  const { peer, greeting } = await opened(caps, ({ token }) => [token("tools")]);
  expect(greeting).toMatchObject({
    a2e: "1.0",
    version: "1.0",
    type: "handshake/resp",
    req_id: "handshake",
    ok: true,
    accepted_caps: [
      { capability: "tools", enabled: true },
      { capability: "memory", enabled: false, metadata: { code: "token_missing" } },
      { capability: "planning", enabled: false, metadata: { code: "reserved" } },
    ],
    max_parallel: 4,
  });
  expect(greeting["accepted_caps"]).toHaveLength(3);
  peer.send({ type: "ping", id: "p", ...ENVELOPE });
  expect(await peer.part("type", "version", "req_id")).toEqual({
    type: "pong",
    version: "1.0",
    req_id: "p",
  });
  // A second handshake does not change the dialect.
  peer.send({ a2e: "1.0", type: "handshake/req", id: "own", agent_caps: ["tools"] });
  expect(await peer.part("version", "code")).toEqual({
    version: "1.0",
    code: "handshake_repeated",
  });
  peer.send({ type: "shutdown", id: "s", ...ENVELOPE, timeout: 10 });
  await peer.over;
});

test("after a malformed handshake of the SDK, the next handshake can select proviso's own dialect", async () => {
  const host = await hosted();
  const peer = await Peer.at(host.port);
  peer.send(sdk("handshake", { agent_caps: "tools" }));
  expect(await peer.part("version", "code")).toEqual({ version: "1.0", code: "message_invalid" });
  const session_id = await peer.open(["tools"], [host.token("tools")]);
  const call = { type: "tool/call/req", id: "1", tool_name: "add", arguments: { a: 1, b: 1 } };
  for (const [members, code] of [
    [{ ...call, session_id, version: "1.0" }, "message_invalid"],
    [{ ...call, session_id, timeout: 0 }, "message_invalid"],
    [call, "session_unknown"],
  ] as const) {
    peer.send(members);
    expect([members, await peer.code()]).toEqual([members, code]);
  }
  peer.send({ ...call, session_id });
  expect(await peer.part("version", "ok", "data")).toEqual({ version: null, ok: true, data: 2 });
});

test("a handshake with a wrong a2e or version property is refused with version_mismatch in the SDK's dialect", async () => {
  const host = await hosted();
  for (const more of [
    { version: "2.0" },
    { version: 1 },
    { version: null },
    { a2e: "2.0" },
  ] as JsonObject[]) {
    const peer = await Peer.at(host.port);
    peer.send({ ...sdk("handshake", { agent_caps: ["tools"] }), ...more });
    expect(await peer.next()).toMatchObject({
      type: "handshake/resp",
      version: "1.0",
      ok: false,
      reason: "version_mismatch",
    });
    await peer.over;
  }
  const both = await opened(["tools"], ({ token }) => [token("tools")]);
  both.peer.send({ type: "ping", id: "p", a2e: "1.0", version: "1.0" });
  expect(await both.peer.code()).toBe("pong");
  both.peer.send({ type: "ping", id: "p", a2e: "1.0", version: "1.1" });
  expect(await both.peer.code()).toBe("version_mismatch");
  const none = await opened(["streaming"], ({ token }) => [token("tools")]);
  expect(none.greeting).toMatchObject({ ok: false, reason: "no_caps", accepted_caps: [] });
});

test("in SDK messages, empty values count as absent, session_id is optional, and a wrong session_id is refused", async () => {
  const { peer, greeting } = await opened(["tools"], ({ token }) => [token("tools")]);
  const call = { tool_name: "echo", arguments: { a: 1 }, correlation_id: "", timeout: 0 };
  for (const session of [
    {},
    { session_id: "" },
    { session_id: greeting["session_id"] ?? "" },
  ] as JsonObject[]) {
    peer.send(sdk("tool/call", { ...call, ...session, streaming: false }));
    expect(await peer.next()).toEqual({
      a2e: "1.0",
      version: "1.0",
      type: "tool/call/resp",
      id: expect.any(String),
      ts: expect.any(Number),
      req_id: "tool/call",
      data: { success: true, tool_name: "echo", data: { a: 1 }, duration_ms: 0 },
    });
  }
  peer.send(sdk("tool/call", { ...call, session_id: "ses_AAAAAAAAAAAAAAAAAAAAAA" }));
  expect(await peer.code()).toBe("session_unknown");
  peer.send(sdk("tool/call", { ...call, correlation_id: "turn" }));
  expect(await peer.part("correlation_id")).toEqual({ correlation_id: "turn" });
  peer.send(sdk("tool/call", { ...call, tool_name: "fail" }));
  expect(await peer.part("type", "req_id", "code")).toEqual({
    type: "error",
    req_id: "tool/call",
    code: "plugin_failed",
  });
});

test("parts of an answer are sent as the SDK's events only if the call has streaming: true", async () => {
  const { peer } = await opened(["tools"], ({ token }) => [token("tools")]);
  const call = { tool_name: "parts", arguments: { parts: 2 }, streaming: true };
  peer.send(sdk("tool/call", call));
  for (const seq of [0, 1]) {
    expect(await peer.part("type", "req_id", "kind", "seq", "data")).toEqual({
      type: "tool/event",
      req_id: "tool/call",
      kind: "status",
      seq,
      data: { part: seq },
    });
  }
  expect(await peer.code()).toBe("tool/call/resp");
  peer.send(sdk("tool/call", { ...call, streaming: false }));
  expect(await peer.code()).toBe("tool/call/resp");
});

test("a part that is not an object is wrapped in an object for the SDK's client", async () => {
  const words: SessionPlugin = {
    name: "words",
    type: "tools",
    operations: {
      "tool/call": {
        async run({ send }) {
          await send("one");
          return null;
        },
      },
    },
  };
  const { peer } = await opened(["tools"], ({ token }) => [token("tools")], { plugins: [words] });
  peer.send(sdk("tool/call", { tool_name: "x", arguments: {}, streaming: true }));
  expect(await peer.part("data")).toEqual({ data: { value: "one" } });
});

test("tool/list answers the SDK's client with the tools that match its filters, and their parameters", async () => {
  const input = {
    type: "object",
    properties: {
      city: { type: "string", description: "Where", enum: ["Bonn", "Ulm"] },
      days: { type: ["integer", "null"], enum: [1, 2] },
      more: { type: "object", properties: { wind: { type: "boolean" } }, required: ["wind"] },
      free: true,
    },
    required: ["city"],
  };
  const listed: Json[] = [
    { name: "weather", description: "Forecasts", input, tags: ["net", "sky"] },
    { name: "time", tags: ["net"] },
    "bare",
    { description: "without a name" },
  ];
  const lists: SessionPlugin = {
    name: "lists",
    type: "tools",
    operations: { "tool/list": { listing: true, run: async () => ({ tools: listed }) } },
  };
  const { peer } = await opened(["tools"], ({ token }) => [token("tools")], { plugins: [lists] });
  const list = async (members: JsonObject): Promise<unknown> => {
    peer.send(sdk("tool/list", { filter_kind: "", include_deferred: false, ...members }));
    const { tools, code } = (await peer.next()) ?? {};
    return Array.isArray(tools) ? tools.map((tool) => Object(tool).name) : code;
  };
  expect(await list({ filter_tags: [], query: "" })).toEqual(["weather", "time", "bare"]);
  expect(await list({ query: "FORE" })).toEqual(["weather"]);
  expect(await list({ query: "sky" })).toEqual(["weather"]);
  expect(await list({ filter_tags: ["NET"] })).toEqual(["weather", "time"]);
  expect(await list({ filter_tags: ["net", "sky"], query: "e" })).toEqual(["weather"]);
  expect(await list({ filter_kind: "native" })).toBe("message_invalid");
  peer.send(sdk("tool/list"));
  const { tools } = (await peer.next()) ?? {};
  expect(tools).toMatchObject([
    {
      name: "weather",
      description: "Forecasts",
      tags: ["net", "sky"],
      input,
      input_parameters: [
        {
          name: "city",
          type: "string",
          description: "Where",
          required: true,
          enum: ["Bonn", "Ulm"],
        },
        { name: "days", type: "integer", description: "", required: false },
        {
          name: "more",
          type: "object",
          required: false,
          properties: { wind: { name: "wind", type: "boolean", required: true } },
        },
        { name: "free", type: "any", description: "", required: false },
      ],
    },
    { name: "time", description: "", input_parameters: [] },
    { name: "bare", description: "", tags: [] },
  ]);
  expect(JSON.stringify(tools)).not.toContain('[1,2],"required"');
});

test("proviso's own messages work in the SDK's dialect, and unknown messages are refused", async () => {
  const { peer, greeting } = await opened(["tools", "memory"], ({ token }) => [
    token("tools"),
    token("memory"),
  ]);
  const session_id = greeting["session_id"] ?? "";
  peer.send(sdk("memory/set", { arguments: { key: "k", value: 1 }, session_id }));
  expect(await peer.part("type", "ok", "data")).toEqual({
    type: "memory/set/resp",
    ok: true,
    data: true,
  });
  peer.send(sdk("tool/call", { tool_name: "wait", arguments: {} }, "w"));
  peer.send({ type: "cancel", id: "c", ...ENVELOPE, req_id: "w" });
  expect(await peer.part("req_id", "code")).toEqual({ req_id: "w", code: "cancelled" });
  for (const type of ["tool/drop", "memory/store", "chain", "planning/create", "tools/call"]) {
    peer.send(sdk(type));
    expect(await peer.code()).toBe(
      type === "planning/create" ? "capability_missing" : "type_unknown",
    );
  }
  for (const type of ["tool/event", "invoke/event", "proc/read/event", "env/plan/resp"]) {
    peer.send({ type, id: "e", ...ENVELOPE });
    expect(await peer.code()).toBe("type_unknown");
  }
});

test("the properties of an env message are the arguments, and the properties of the result are in the answer", async () => {
  const env: SessionPlugin = {
    name: "worlds",
    type: "env",
    operations: {
      "env/reset": {
        run: async ({ arguments: given }) => ({ obs: given, id: "x", type: "y", req_id: "z" }),
      },
      "env/exp/list": { run: async () => [1] },
    },
  };
  const { peer } = await opened(["env"], ({ token }) => [token("env")], { plugins: [env] });
  peer.send(sdk("env/reset", { env_name: "maze", seed: null, options: {} }));
  expect(await peer.next()).toEqual({
    a2e: "1.0",
    version: "1.0",
    type: "env/reset/resp",
    id: "h2",
    ts: expect.any(Number),
    req_id: "env/reset",
    obs: { env_name: "maze" },
  });
  peer.send(sdk("env/exp/list", { episode_id: "", limit: 100 }));
  expect(await peer.part("data")).toEqual({ data: [1] });
  peer.send(sdk("env/reset", { env_name: "maze", sead: 1 }));
  expect(await peer.part("code", "message")).toEqual({
    code: "message_invalid",
    message: 'there is no property "sead" here; did you mean "seed"?',
  });
});

test("for a value that memory/set has stored, memory/retrieve returns an entry that the SDK's client can read", async () => {
  const store = openMemory(await createStores(`${temporaryFolder()}/memory.db`));
  const { peer } = await opened(["memory"], ({ token }) => [token("memory")], {
    plugins: [createMemoryPlugin({ memory: store })],
  });
  const memory_id = "default";
  for (const [value, content, score] of [
    [{ content: "tea", score: 0.5, tags: ["drink"] }, "tea", 0.5],
    // If one property had another type, the client would discard the whole answer.
    ...(
      [{ score: "high" }, { tags: "drink" }, { source: 1 }, { created_at: "now" }] as JsonObject[]
    ).map((more) => {
      const odd = { content: "tea", ...more };
      return [odd, odd, 1] as const;
    }),
    ["tea", "tea", 1],
  ] as const) {
    const key = 'default/episodic/{"name":"tea"}';
    peer.send(sdk("memory/set", { arguments: { key, value } }));
    expect(await peer.part("ok")).toEqual({ ok: true });
    peer.send(sdk("memory/retrieve", { memory_id, tier: "episodic" }));
    expect(await peer.next()).toMatchObject({
      entries: [{ key: { name: "tea" }, content, score, tier: "episodic", ttl: 0 }],
      total: 1,
    });
  }
});

test("every property of every SDK message reaches the plugin as an argument", async () => {
  const types = {
    ...({ skill: "skill", tool: "tools", toolkit: "toolkits", env: "env" } as const),
    ...({ proc: "proc", memory: "memory", learn: "learning", mcp: "mcp" } as const),
  };
  const served = Object.entries(types).map(([namespace, type]): SessionPlugin => {
    const operations = Object.keys(SDK_TYPES).filter((one) => one.startsWith(`${namespace}/`));
    const run: SessionPlugin["operations"][string]["run"] = async (call) => ({
      given: call.arguments,
      called: call.name ?? null,
    });
    return {
      name: namespace,
      type,
      operations: Object.fromEntries(operations.map((one) => [one, { run }])),
    };
  });
  const caps = Object.values(types);
  const { peer } = await opened(caps, ({ token }) => caps.map((name) => token(name)), {
    plugins: served,
  });
  let seen = 0;
  for (const [type, members] of Object.entries(SDK_TYPES)) {
    if (type === "tool/list") continue;
    for (const member of members) {
      const value = member === "arguments" ? { inner: 1 } : "v";
      peer.send(sdk(type, { [member]: value }));
      const answer = (await peer.next()) ?? {};
      const { given, called } = Object(Object(answer["data"]).data ?? answer);
      const named = ["tool/call", "skill/call"].includes(type);
      if (named && member === "arguments") expect(given).toEqual(value);
      else if (named && ["tool_name", "name"].includes(member)) expect(called).toBe(value);
      else expect([type, given]).toEqual([type, { [member]: value }]);
      seen++;
    }
  }
  expect(seen).toBeGreaterThan(60);
});

test("a peer that began in proviso's own dialect cannot use the SDK's messages", async () => {
  const host = await hosted({ plugins: plugins() });
  const peer = await Peer.at(host.port);
  const session = await peer.open(["tools", "memory"], [host.token("tools"), host.token("memory")]);
  const call = { type: "tool/call/req", id: "1", session_id: session, tool_name: "echo" };
  for (const [message, code] of [
    [{ ...call, version: "1.0" }, "message_invalid"],
    [{ ...call, session_id: "" }, "session_unknown"],
    [{ ...call, timeout: 0 }, "message_invalid"],
    [{ ...call, correlation_id: "" }, "message_invalid"],
    [{ type: "shutdown", id: "s", timeout: 1 }, "message_invalid"],
    [{ type: "memory/init/req", id: "m", session_id: session }, "type_unknown"],
  ] as const) {
    peer.send(message);
    expect([message, await peer.code()]).toEqual([message, code]);
  }
});
