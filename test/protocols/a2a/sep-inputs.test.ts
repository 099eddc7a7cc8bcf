import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { ERROR_CODES, ERROR_DOMAIN } from "../../../src/protocols/a2a/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { at, authorized, quietConsole, rpc, send, textAt } from "./callers.js";

let agent: TestAgent;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent();
});

afterAll(() => agent.remove());

async function capability(): Promise<{ readonly id: string; readonly token: string }> {
  const { body } = await rpc(agent, "alice", "a2a/capabilities/request", { grants: ["work:do"] });
  const granted = at(body, "result", "capabilities", 0);
  return { id: textAt(granted, "id"), token: textAt(granted, "token") };
}

const MESSAGE = { role: "user", parts: [{ text: "do something" }] };
const TOO_MANY = Array(9).fill("cap_AAAAAAAAAAAAAAAA");

test.each<readonly [method: string, params: unknown]>([
  ["a2a/capabilities/attenuate", {}],
  ["a2a/capabilities/attenuate", { token: 1, constraints: {} }],
  ["a2a/capabilities/attenuate", { token: "", constraints: {} }],
  ["a2a/capabilities/attenuate", { token: "TOKEN" }],
  ["a2a/capabilities/attenuate", { token: "TOKEN", constraints: [] }],
  ["a2a/capabilities/attenuate", { token: "TOKEN", constraints: { operation: ["wait"] } }],
  ["a2a/capabilities/attenuate", { token: "TOKEN", constraints: { expires: "tomorrow" } }],
  ["a2a/capabilities/attenuate", { token: "TOKEN", constraints: { nonce: "short" } }],
  ["a2a/capabilities/revoke", {}],
  ["a2a/capabilities/revoke", { capabilityId: ["x"] }],
  ["a2a/capabilities/revoke", { token: "TOKEN", reason: 7 }],
  ["a2a/capabilities/revoke", { token: "TOKEN", reason: "x".repeat(513) }],
  ["a2a/capabilities/introspect", {}],
  ["a2a/capabilities/introspect", { token: null }],
  ["a2a/skill/invoke", {}],
  ["a2a/skill/invoke", { skill: 1, token: "TOKEN" }],
  ["a2a/skill/invoke", { skill: "wait", arguments: [], token: "TOKEN" }],
  ["a2a/skill/invoke", { skill: "wait", arguments: { milliseconds: 0 }, capabilities: "TOKEN" }],
  ["a2a/skill/invoke", { skill: "wait", arguments: { milliseconds: 0 }, capabilities: [{}] }],
  ["a2a/skill/invoke", { skill: "wait", arguments: { milliseconds: 0 }, capabilities: [""] }],
  ["a2a/skill/invoke", { skill: "wait", arguments: { milliseconds: 0 }, capabilities: TOO_MANY }],
  [
    "a2a/skill/invoke",
    { skill: "wait", arguments: { milliseconds: 0 }, capabilities: [{ token: "TOKEN", x: 1 }] },
  ],
  ["a2a/task/send", {}],
  ["a2a/task/send", { message: "hello" }],
  ["a2a/task/send", { message: { role: "user" } }],
  ["a2a/task/send", { message: MESSAGE, capabilities: {} }],
  ["a2a/task/send", { message: MESSAGE, capabilities: ["ID"], attenuations: [] }],
  ["a2a/task/send", { message: MESSAGE, capabilities: ["ID"], attenuations: { ID: "wait" } }],
  ["a2a/task/send", { message: MESSAGE, capabilities: ["ID"], attenuations: { cap_other: {} } }],
  [
    "a2a/task/send",
    { message: MESSAGE, capabilities: ["ID"], attenuations: { ID: { operations: [] } } },
  ],
  ["a2a/capabilities/request", []],
  ["a2a/skill/invoke", "wait"],
])("a call of %s with the params %j is answered with -32602", async (method, params) => {
  const { id, token } = await capability();
  const text = JSON.stringify(params ?? null)
    .replaceAll('"TOKEN"', `"${token}"`)
    .replaceAll('"ID"', `"${id}"`);
  const runs = agent.ran.length;
  const answer = await rpc(agent, "alice", method, JSON.parse(text));
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    jsonrpc: "2.0",
    id: 1,
    error: {
      code: -32602,
      message: expect.stringMatching(/\w/),
      data: [
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "invalid_request",
          domain: ERROR_DOMAIN,
        },
      ],
    },
  });
  expect(agent.ran.length).toBe(runs);
});

test("a2a/capabilities/attenuate refuses an attenuation beyond the capability, and suggests the nearest valid value", async () => {
  const { token } = await capability();
  const constraints = {
    operations: ["wai"],
    resourceHandles: ["rh_x"],
    expires: "2099-01-01T00:00:00Z",
  };
  const { body } = await rpc(agent, "alice", "a2a/capabilities/attenuate", { token, constraints });
  expect(body).toMatchObject({
    error: { code: -32602, data: [{ reason: "attenuation_exceeds" }] },
  });
  const problems: Json = JSON.parse(textAt(body, "error", "data", 0, "metadata", "problems"));
  expect(problems).toContainEqual(expect.objectContaining({ nearest: "wait" }));
});

test.each<readonly [params: Json, reason: string]>([
  [{}, "invalid_request"],
  [{ grants: [] }, "invalid_request"],
  [{ grants: ["work:do"], resourceHandles: ["rh_x"] }, "invalid_request"],
  [{ grants: ["work:do"], expires: "2001-01-01T00:00:00Z" }, "invalid_request"],
  [{ grants: ["work:undo"] }, "unknown_grant"],
  [
    { grants: ["documents:write"], resourceQuery: { collection: "letters" } },
    "missing_required_grants",
  ],
  [{ grants: ["documents:read"] }, "resource_query_required"],
  [{ grants: ["documents:read"], resourceQuery: { collection: "report" } }, "unknown_collection"],
  [
    { grants: ["documents:read"], resourceQuery: { collection: "reports", filter: { quater: 1 } } },
    "unknown_field",
  ],
  [
    {
      grants: ["documents:read"],
      resourceQuery: { collection: "reports", filter: { quarter: { like: "2" } } },
    },
    "unknown_operator",
  ],
  [{ grants: ["documents:admin"] }, "nothing_left"],
])("a2a/capabilities/request with %j is refused as %s", async (params, reason) => {
  const { body } = await rpc(agent, "alice", "a2a/capabilities/request", params);
  expect(body).toMatchObject({
    error: { code: ERROR_CODES.requestRefused, data: [{ reason, domain: ERROR_DOMAIN }] },
  });
  expect(JSON.parse(textAt(body, "error", "data", 0, "metadata", "problem"))).toMatchObject({
    code: reason,
  });
});

async function post(body: string): Promise<Json> {
  const init = { method: "POST", headers: authorized("alice"), body };
  return (await send(agent.server.rpcUrl, init)).body;
}

test("a body that is not a valid JSON-RPC request is refused, and runs nothing", async () => {
  const method = "a2a/capabilities/introspect";
  const before = agent.ran.length;
  for (const [request, id] of [
    // Nothing runs for notifications, batches and invalid ids.
    [{ jsonrpc: "2.0", method, params: { token: "x" } }, null],
    [{ jsonrpc: "2.0", id: null, method, params: { token: "x" } }, null],
    [{ jsonrpc: "2.0", id: {}, method, params: { token: "x" } }, null],
    [{ jsonrpc: "1.0", id: 5, method, params: { token: "x" } }, null],
    [{ id: "a", method, params: { token: "x" } }, null],
    [[{ jsonrpc: "2.0", id: 1, method, params: { token: "x" } }], null],
    [[], null],
    ["a text", null],
    [null, null],
    [17, null],
  ] as const) {
    expect(await post(JSON.stringify(request))).toMatchObject({
      jsonrpc: "2.0",
      id,
      error: { code: -32600 },
    });
  }
  expect(agent.ran.length).toBe(before);
});

test("only the four methods in the proposal's examples can be called without id and jsonrpc", async () => {
  const { id, token } = await capability();
  const constraints = { operations: ["wait"] };
  const attenuations = { [id]: constraints };
  const call = { skill: "wait", arguments: { milliseconds: 0 } };
  for (const [method, params, result] of [
    ["a2a/capabilities/request", { grants: ["work:do"] }, "capabilities"],
    ["a2a/capabilities/attenuate", { capabilityId: id, constraints }, "capability"],
    ["a2a/skill/invoke", { ...call, capabilityId: id }, "result"],
    ["a2a/task/send", { message: MESSAGE, capabilities: [id], attenuations }, "task"],
  ] as const) {
    for (const written of [
      { method, params },
      { jsonrpc: "2.0", method, params },
      { jsonrpc: "2.0", id: null, method, params },
    ]) {
      const answer = await post(JSON.stringify(written));
      expect(answer).toMatchObject({ jsonrpc: "2.0", id: null });
      expect(at(answer, "result", result)).not.toBeNull();
    }
    expect(await post(JSON.stringify({ method, id: "a", params }))).toMatchObject({ id: "a" });
    const runs = agent.ran.length;
    for (const wrong of [{ jsonrpc: "1.0" }, { jsonrpc: null }, { id: {} }, { id: true }]) {
      const answer = await post(JSON.stringify({ method, params, ...wrong }));
      expect(answer).toMatchObject({ id: null, error: { code: -32600 } });
    }
    expect(agent.ran.length).toBe(runs);
  }
  // An invalid call without "jsonrpc" and "id" gets an answer with an error.
  expect(await post(JSON.stringify({ method: "a2a/skill/invoke", params: {} }))).toMatchObject({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32602 },
  });
  // No other method may omit "jsonrpc", neither a method of the extension nor one of A2A's.
  for (const method of ["a2a/capabilities/revoke", "a2a/capabilities/introspect", "SendMessage"]) {
    const answer = await post(JSON.stringify({ method, params: { token } }));
    expect(at(answer, "error", "code")).not.toBeNull();
  }
  expect(
    await post(JSON.stringify({ jsonrpc: "2.0", method: "a2a/capabilities/revoke" })),
  ).toMatchObject({ error: { code: -32600 } });
});

test("a time with milliseconds is rounded to a whole second: expires down, notBefore up", async () => {
  const second = Math.floor(Date.now() / 1000) * 1000 + 600_000;
  const written = (milliseconds: number): string => new Date(milliseconds).toISOString();
  const kept = (milliseconds: number): string => written(milliseconds).replace(".000Z", "Z");
  const expires = written(second + 987);
  const params = { grants: ["work:do"], expires };
  const { body } = await rpc(agent, "alice", "a2a/capabilities/request", params);
  const granted = at(body, "result", "capabilities", 0);
  expect(textAt(granted, "expires")).toBe(kept(second));
  const [id, token] = [textAt(granted, "id"), textAt(granted, "token")];
  const constraints = { expires, notBefore: written(second - 599_001) };
  const narrow = await rpc(agent, "alice", "a2a/capabilities/attenuate", { token, constraints });
  expect(at(narrow.body, "result", "capability", "constraints")).toMatchObject({
    expires: kept(second),
    notBefore: kept(second - 599_000),
  });
  const message = { parts: [{ data: { skill: "wait", arguments: { milliseconds: 0 } } }] };
  const sent = await rpc(agent, "alice", "a2a/task/send", {
    message,
    capabilities: [id],
    attenuations: { [id]: { expires } },
  });
  expect(textAt(sent.body, "result", "task", "status", "state")).toBe("TASK_STATE_COMPLETED");
});

test.each(["2099-01-01T00:00:00.Z", "2099-01-01T00:00:00,5Z", "2099-01-01T00:00:00.000+01:00"])(
  "a2a/capabilities/request refuses the expiry time %s",
  async (expires) => {
    const params = { grants: ["work:do"], expires };
    const { body } = await rpc(agent, "alice", "a2a/capabilities/request", params);
    expect(textAt(body, "error", "data", 0, "reason")).toBe("invalid_request");
  },
);

test("an unknown JSON-RPC method is answered with -32601", async () => {
  for (const method of [
    "a2a/skill/invoke2",
    "a2a/capabilities/requests",
    "tasks/get",
    "toString",
  ]) {
    const { body } = await rpc(agent, "alice", method, {});
    expect(body).toMatchObject({ id: 1, error: { code: -32601 } });
  }
});
