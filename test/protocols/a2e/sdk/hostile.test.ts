import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import { createProcPlugin, type SessionPlugin } from "../../../../src/protocols/a2e/index.js";
import { SDK_TYPES } from "../../../../src/protocols/a2e/sdk/types.js";
import { sized } from "../../../support/size.js";
import { closed } from "../plugins/calls.js";
import { hosted, newHeld, Peer, plugins } from "../support.js";
import { entry, memory, opened, sdk } from "./support.js";

// Attempts to exceed a token's limit in the SDK's dialect. Each attempt is refused, and no refused call runs.

test("a token's constraints apply to every string property of every SDK message", async () => {
  const types: { readonly [namespace: string]: SessionPlugin["type"] } = {
    skill: "skill",
    tool: "tools",
    toolkit: "toolkits",
    env: "env",
    proc: "proc",
    memory: "memory",
    learn: "learning",
    mcp: "mcp",
  };
  const ran: string[] = [];
  const served = Object.entries(types).map(([namespace, type]): SessionPlugin => {
    const operations = Object.keys(SDK_TYPES).filter((one) => one.startsWith(`${namespace}/`));
    const run = async () => ran.push(namespace);
    const listing: SessionPlugin["operations"] =
      type === "tools" ? { "tool/list": { listing: true, run } } : {};
    const others = operations.map((one) => [one, { run }] as const);
    return {
      name: namespace,
      type,
      operations: { ...Object.fromEntries(others), ...listing },
    };
  });
  // These properties are not strings. The next test covers them.
  const apart = ["include_deferred", "filter_kind", "arguments"];
  const members = new Set(Object.values(SDK_TYPES).flat());
  const tried = [...members].filter((one) => !apart.includes(one));
  for (const member of tried.filter((_, at) => at % sized(1, 4) === 0)) {
    const hop = { constraints: { [member]: "allowed" } };
    const tokens = Object.fromEntries(Object.values(types).map((type) => [type, hop]));
    const { ask } = await opened(tokens, { plugins: served, limits: { parallel: 64 } });
    for (const [type, known] of Object.entries(SDK_TYPES)) {
      if (!known.includes(member) || (type === "tool/list" && member !== "query")) continue;
      expect([type, member, await ask(type, { [member]: "denied" })]).toEqual([
        type,
        member,
        "permission_denied",
      ]);
      expect(ran).toEqual([]);
      expect([type, member, await ask(type, { [member]: "allowed" })]).toEqual([
        type,
        member,
        `${type}/resp`,
      ]);
      ran.pop();
    }
  }
}, 120_000);

test("tool/list is refused if the token does not allow one of the filters, even if the token limits 20 other arguments first", async () => {
  const missing = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`a${at}`, 1] as const));
  for (const [constraints, denied, allowed] of [
    [{ include_deferred: false }, { include_deferred: true }, { include_deferred: false }],
    [{ ...missing, query: "tea" }, { query: "ice" }, {}],
    [{ filter_tags: "tea" }, { filter_tags: ["tea"] }, {}],
  ] as const) {
    const listing: SessionPlugin = {
      name: "lists",
      type: "tools",
      operations: { "tool/list": { listing: true, run: async () => ["tea", "ice"] } },
    };
    const { ask } = await opened({ tools: { constraints } }, { plugins: [listing] });
    expect([denied, await ask("tool/list", denied)]).toEqual([denied, "permission_denied"]);
    if ("query" in constraints) continue;
    expect([allowed, await ask("tool/list", allowed)]).toEqual([allowed, "tool/list/resp"]);
  }
});

test("no value is converted before it is judged or passed to a tool", async () => {
  const held = newHeld();
  const { ask, peer } = await opened(
    { tools: { constraints: { tool_name: "add", a: { max: 5 } } } },
    { plugins: plugins(held), limits: { faults: 1000 } },
  );
  const call = (given: JsonObject, more: JsonObject = {}): Promise<Json> =>
    ask("tool/call", { tool_name: "add", arguments: { b: 0, ...given }, ...more });
  for (const a of ["5", "1", true, null, [1], { max: 1 }, "", 5.000001, 6]) {
    expect([a, await call({ a })]).toEqual([a, "permission_denied"]);
  }
  for (const more of [
    { timeout: "5" },
    { timeout: -1 },
    { streaming: "true" },
    { streaming: 1 },
    { correlation_id: 7 },
    { correlation_id: "a".repeat(129) },
    { tool_name: ["add"] },
    { name: "add" },
    { server: "x" },
    { a: 1 },
    { __proto__x: 1 },
    { constructor: "x" },
  ] as JsonObject[]) {
    expect([more, await call({ a: 1 }, more)]).toEqual([more, "message_invalid"]);
  }
  expect(held.ran).toEqual([]);
  // A number is judged by its value, however it is written.
  const written = (a: string): string =>
    `{"type":"tool/call/req","id":"n","version":"1.0","tool_name":"add","arguments":{"a":${a},"b":0}}\n`;
  for (const [a, code] of [
    ...([
      ["5.0", "tool/call/resp"],
      ["0.5e1", "tool/call/resp"],
    ] as const),
    ...([
      ["5.1", "permission_denied"],
      ["51e-1", "permission_denied"],
    ] as const),
    ...([
      ["NaN", "line_malformed"],
      ["Infinity", "line_malformed"],
    ] as const),
    ...([
      ["1e999", "line_malformed"],
      ["-1e999", "line_malformed"],
    ] as const),
    ...([
      ['1,"a":6', "line_malformed"],
      ['6,"\\u0061":1', "line_malformed"],
    ] as const),
  ]) {
    peer.send(written(a));
    expect([a, await peer.code()]).toEqual([a, code]);
  }
  peer.send(
    `{"type":"tool/call/req","id":"n","version":"1.0","tool_name":"add","tool_name":"fail"}\n`,
  );
  expect(await peer.code()).toBe("line_malformed");
  expect(held.ran).toEqual(["add", "add"]);
});

test("a limit on resource handles applies to a handle anywhere in an SDK message", async () => {
  const held = newHeld();
  const { plugin, keys } = await memory();
  const [own, other] = ["rh_AAAAAAAAAAAAAAAAAAAAAA", "rh_BBBBBBBBBBBBBBBBBBBBBB"];
  const hop = { resourceHandles: [own] };
  const { ask } = await opened(
    { tools: hop, memory: hop },
    { plugins: [...plugins(held).slice(0, 1), plugin], limits: { faults: 1000 } },
  );
  const call = { tool_name: "add", arguments: { a: 1, b: 1 } };
  // A handle that the peer made up is never resolved, even if the token allows it by name.
  for (const members of [
    call,
    { ...call, correlation_id: own },
    { ...call, arguments: { a: own } },
    { ...call, arguments: { a: own, b: [{ c: other }] } },
    { ...call, arguments: { [own]: 1 } },
    { tool_name: own, arguments: {} },
  ] as JsonObject[]) {
    expect([members, await ask("tool/call", members)]).toEqual([members, "permission_denied"]);
  }
  for (const content of ["a", own, other, { deep: [own] }]) {
    const members = { memory_id: "default", entries: [entry("a", { content })] };
    expect([members, await ask("memory/store", members)]).toEqual([members, "permission_denied"]);
  }
  expect(held.ran).toEqual([]);
  expect(await keys()).toEqual([]);
});

test("an argument cannot replace the tool's name, and a property cannot replace an argument", async () => {
  const held = newHeld();
  const skills: SessionPlugin = {
    name: "skills",
    type: "skill",
    operations: {
      "skill/call": {
        run: async ({ name = "", arguments: given }) => [held.ran.push(name), given],
      },
    },
  };
  const hop = { constraints: { metadata: "small" } };
  const { ask } = await opened(
    { tools: { constraints: { tool_name: "add" } }, skill: hop },
    { plugins: [...plugins(held), skills] },
  );
  for (const members of [
    { tool_name: "fail", arguments: { tool_name: "add" } },
    { tool_name: "", arguments: { tool_name: "add" } },
    { arguments: { tool_name: "add" } },
  ] as JsonObject[]) {
    expect(await ask("tool/call", members)).toBe("message_invalid");
  }
  expect(await ask("tool/call", { tool_name: "", arguments: {} })).toBe("permission_denied");
  const call = { name: "sum", arguments: { metadata: "small" } };
  expect(await ask("skill/call", { ...call, metadata: { large: true } })).toBe("message_invalid");
  expect(await ask("skill/call", { name: "sum", metadata: { large: true } })).toBe(
    "permission_denied",
  );
  expect(held.ran).toEqual([]);
  expect(await ask("skill/call", call)).toBe("skill/call/resp");
});

test("a message about processes is judged before its answer shows any data of the plugin", async () => {
  const counting = {
    command: process.execPath,
    args: ["-e", "setInterval(() => {}, 1000)", "--", "{from}"],
    parameters: { from: { type: "integer", maximum: 50 } },
    required: ["from"],
  };
  const plugin = closed(
    await createProcPlugin({
      programs: { count: counting, other: counting },
      limits: { grace: 50 },
    }),
  );
  const hop = { constraints: { name: "count", from: { max: 10 } } };
  const { ask, answer } = await opened({ proc: hop }, { plugins: [plugin] });
  const spawn = (...cmd: readonly string[]): Promise<Json> => ask("proc/spawn", { cmd });
  // If the token does not allow a program, the answer does not show whether the program exists.
  for (const cmd of [
    ["other", "5"],
    ["none", "5"],
    ["bash", "-c", "id"],
    ["count", "11"],
  ]) {
    expect([cmd, await spawn(...cmd)]).toEqual([cmd, "permission_denied"]);
  }
  // None of these strings is converted to a number, since none is the canonical form of a number.
  for (const from of ["1e1", "+5", "05", "5.0", " 5", "0x5", "five", "", "-"]) {
    expect([from, await spawn("count", from)]).toEqual([from, "permission_denied"]);
  }
  expect(await spawn("count")).toBe("permission_denied");
  expect(await spawn("count", "5", "6")).toBe("permission_denied");
  for (const members of [
    { cmd: [] },
    { cmd: "count 5" },
    { cmd: [5] },
    { cmd: ["count", 5] },
    { cmd: ["count", "5"], cwd: "/" },
    { cmd: ["count", "5"], env: { A: "b" } },
    { cmd: ["count", "5"], timeout: "5" },
    { cmd: ["count", "5"], stdin_mode: "tty" },
  ] as JsonObject[]) {
    expect([members, await ask("proc/spawn", members)]).toEqual([members, "arguments_invalid"]);
  }
  const reading = await opened(
    { proc: { operations: ["proc/start", "proc/read"], constraints: { name: "count" } } },
    { plugins: [plugin] },
  );
  expect(await reading.ask("proc/list")).toBe("permission_denied");
  const { proc_id } = await reading.answer("proc/spawn", { cmd: ["count", "5"], timeout: 60 });
  expect(await reading.answer("proc/status", { proc_id: proc_id ?? "" })).toMatchObject({
    proc_id,
    status: "running",
    error: "",
  });
  expect(await reading.ask("proc/kill", { proc_id: proc_id ?? "" })).toBe("permission_denied");
  expect(await reading.ask("proc/kill", { proc_id: proc_id ?? "", signal: "SIGKILL" })).toBe(
    "arguments_invalid",
  );
  expect(await reading.ask("proc/write", { proc_id: proc_id ?? "", data: "x" })).toBe(
    "type_unknown",
  );
  // Another session cannot see the process.
  expect(await answer("proc/status", { proc_id: proc_id ?? "" })).toMatchObject({ type: "error" });
  const short = await reading.answer("proc/spawn", { cmd: ["count", "5"], timeout: 1 });
  const { proc_id: killed = "" } = short;
  await expect
    .poll(async () => (await reading.answer("proc/status", { proc_id: killed }))["status"])
    .toBe("killed");
});

test("SDK messages are refused before the handshake, without the capability, and without a token", async () => {
  const { plugin, keys } = await memory();
  const host = await hosted({ plugins: [...plugins().slice(0, 1), plugin] });
  const store = sdk("memory/store", { memory_id: "default", entries: [entry("a")] });
  const early = await Peer.at(host.port);
  for (const message of [store, sdk("memory/init"), { type: "ping", id: "p", version: "1.0" }]) {
    early.send(message);
    expect(await early.code()).toBe("not_handshaken");
  }
  early.send(sdk("handshake", { agent_caps: ["memory"], auth_token: "" }));
  expect(await early.part("ok", "reason")).toEqual({ ok: false, reason: "auth_failed" });
  await early.over;
  const peer = await Peer.at(host.port);
  const auth_token = [host.token("tools"), host.token("memory")].join(",");
  peer.send(sdk("handshake", { agent_caps: ["tools"], auth_token }));
  await peer.next();
  for (const message of [store, sdk("memory/init"), sdk("memory/get")]) {
    peer.send(message);
    expect(await peer.part("code", "capability_name")).toEqual({
      code: "capability_missing",
      capability_name: "memory",
    });
  }
  const { id: _, ...anonymous } = sdk("tool/call", { tool_name: "add", arguments: {} });
  for (const message of [anonymous, { ...anonymous, id: "" }, { ...anonymous, id: 7 }]) {
    peer.send(message);
    expect(await peer.part("req_id", "code")).toEqual({ req_id: "", code: "message_invalid" });
  }
  expect(await keys()).toEqual([]);
});

test("in the SDK's dialect, parallel calls are limited, and the id of a running call is refused", async () => {
  const held = newHeld();
  const { peer } = await opened({ tools: {} }, { plugins: plugins(held), limits: { parallel: 2 } });
  const wait = (id: string): void =>
    peer.send(sdk("tool/call", { tool_name: "wait", arguments: {} }, id));
  wait("1");
  wait("1");
  expect(await peer.part("req_id", "code")).toEqual({ req_id: "1", code: "message_invalid" });
  wait("2");
  wait("3");
  expect(await peer.part("req_id", "code")).toEqual({ req_id: "3", code: "too_many_parallel" });
  held.release();
  expect(await peer.code()).toBe("tool/call/resp");
});

test("a plugin's SDK handler can call only operations of the plugin's own capability", async () => {
  const held = newHeld();
  const [tools] = plugins(held);
  if (tools === undefined) throw new Error("there is no plugin");
  const reaching: SessionPlugin = {
    name: "reaching",
    type: "memory",
    operations: { "memory/get": { run: async () => null } },
    sdk: {
      "memory/init": async ({ call }) => ({ data: await call("tool/call", { name: "add" }) }),
    },
  };
  const host = await opened({ memory: {}, tools: {} }, { plugins: [tools, reaching] });
  expect(await host.ask("memory/init")).toBe("server_error");
  expect(held.ran).toEqual([]);
  expect(host.host.failures).toHaveLength(1);
});
