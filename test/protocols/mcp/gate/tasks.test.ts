import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import { NEW_META, openTestGate, RawServer, refusalIn, tool } from "./support.js";

const NEW = { era: "new" } as const;
const RUN = { operations: ["run", "client:elicitation"] };
const STATE = { taskId: "t1", status: "working", createdAt: "2026-01-01T00:00:00Z", ttlMs: null };

function taskServer(name?: string): RawServer {
  const server = new RawServer(name);
  server.answers["tools/list"] = { tools: [tool("run")] };
  server.answers["tools/call"] = { resultType: "task", ...STATE };
  server.answers["tasks/get"] = { resultType: "complete", ...STATE };
  server.answers["tasks/update"] = { resultType: "complete" };
  server.answers["tasks/cancel"] = { resultType: "complete" };
  return server;
}

/** Returns a request of the new era with this token in `_meta`. */
function asked(id: number, method: string, params: JsonObject, token: string): JsonObject {
  return {
    id,
    method,
    params: { ...params, _meta: { ...NEW_META, "dev.proviso/capability": token } },
  };
}

const NO_TASK = { error: { code: -32602, message: "there is no such task" } };

test("only the creator of a task can read, cancel or update it", async () => {
  const server = taskServer();
  const { host, mint } = await openTestGate([server]);
  const [mine, theirs] = [mint(RUN), mint(RUN)];
  expect(await host.ask(asked(1, "tools/call", { name: "run" }, mine), NEW)).toMatchObject({
    result: STATE,
  });
  let id = 2;
  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
    const params = { taskId: "t1", ...(method === "tasks/update" ? { inputResponses: {} } : {}) };
    expect(await host.ask(asked(id++, method, params, theirs), NEW)).toMatchObject(NO_TASK);
    expect(server.requests(method)).toEqual([]);
    expect(await host.ask(asked(id++, method, params, mine), NEW)).toMatchObject({
      result: { resultType: "complete" },
    });
    expect(server.requests(method)).toHaveLength(1);
  }
  expect(await host.ask(asked(id++, "tasks/get", { taskId: "t2" }, mine), NEW)).toMatchObject(
    NO_TASK,
  );
});

test("a task whose token was revoked cannot be read", async () => {
  const server = taskServer();
  const { host, mint, issuer, revocations } = await openTestGate([server]);
  const token = mint(RUN);
  await host.ask(asked(1, "tools/call", { name: "run" }, token), NEW);
  const revocation = issuer.revocationOf(token);
  if (!revocation.ok) throw new Error("no entry");
  await revocations.add(revocation.entry);
  expect(await host.ask(asked(2, "tasks/get", { taskId: "t1" }, token), NEW)).toMatchObject({
    error: { code: -31403, data: { "dev.proviso/denials": [{ code: "revoked" }] } },
  });
  expect(server.requests("tasks/get")).toEqual([]);
});

test("a task's requests to the host are judged, and only allowed requests may be answered", async () => {
  const server = taskServer();
  const confirm = { method: "elicitation/create", params: { mode: "form", message: "?" } };
  const steal = { method: "sampling/createMessage", params: { messages: [] } };
  const { host, mint } = await openTestGate([server]);
  const token = mint(RUN);
  await host.ask(asked(1, "tools/call", { name: "run" }, token), NEW);
  const state = { ...STATE, resultType: "complete", status: "input_required" };
  server.answers["tasks/get"] = { ...state, inputRequests: { steal } };
  const get = (id: number) => host.ask(asked(id, "tasks/get", { taskId: "t1" }, token), NEW);
  const update = (id: number, key: string) => {
    const params = { taskId: "t1", inputResponses: { [key]: { action: "accept" } } };
    return host.ask(asked(id, "tasks/update", params, token), NEW);
  };
  expect(await get(2)).toMatchObject({ error: { code: -31403 } });
  expect(await update(3, "steal")).toMatchObject({ error: { code: -32602 } });
  server.answers["tasks/get"] = { ...state, inputRequests: { confirm } };
  expect(await get(4)).toMatchObject({ result: { inputRequests: { confirm } } });
  expect(await update(5, "other")).toMatchObject({ error: { code: -32602 } });
  expect(await update(6, "confirm")).toMatchObject({ result: { resultType: "complete" } });
  expect(server.requests("tasks/update")).toHaveLength(1);
});

test("a server cannot create a task with the id of a task of another holder or of another server", async () => {
  const [good, evil] = [taskServer("good"), taskServer("evil")];
  const { host, mint } = await openTestGate([good, evil]);
  const [mine, theirs] = [
    mint({ operations: ["good/run"] }),
    mint({ operations: ["good/run", "evil/run"] }),
  ];
  await host.ask(asked(1, "tools/call", { name: "good__run" }, mine), NEW);
  for (const [id, name] of [
    [2, "good__run"],
    [3, "evil__run"],
  ] as const) {
    expect(await host.ask(asked(id, "tools/call", { name }, theirs), NEW)).toMatchObject({
      error: { code: -32603 },
    });
  }
  await host.ask(asked(4, "tasks/get", { taskId: "t1" }, mine), NEW);
  expect(good.requests("tasks/get")).toHaveLength(1);
  expect(evil.requests("tasks/get")).toEqual([]);
});

test("in the old era, only the creator of a task sees it in the list and can read its result", async () => {
  const server = taskServer();
  server.answers["tools/call"] = { task: { taskId: "t1", status: "working" } };
  server.answers["tasks/list"] = { tasks: [{ taskId: "t0" }, { taskId: "t1" }, { taskId: "t2" }] };
  server.answers["tasks/result"] = { content: [] };
  const { host, mint } = await openTestGate([server]);
  const [mine, theirs] = [mint(RUN), mint(RUN)];
  await host.ask(asked(1, "tools/call", { name: "run", task: {} }, mine));
  const list = async (id: number, token: string) =>
    (await host.ask(asked(id, "tasks/list", {}, token)))["result"];
  expect(await list(2, mine)).toEqual({ tasks: [{ taskId: "t1" }] });
  expect(await list(3, theirs)).toEqual({ tasks: [] });
  expect(await host.ask(asked(4, "tasks/result", { taskId: "t1" }, theirs))).toMatchObject(NO_TASK);
  expect(await host.ask(asked(5, "tasks/result", { taskId: "t1" }, mine))).toMatchObject({
    result: { content: [] },
  });
});

test("progress of a task of the old era reaches the host after the call was answered", async () => {
  const server = taskServer();
  server.answers["tools/call"] = { task: { taskId: "t1", status: "working" } };
  const { host } = await openTestGate([server], RUN);
  const _meta = { progressToken: "p" };
  await host.ask({ id: 1, method: "tools/call", params: { name: "run", task: {}, _meta } });
  const { id: progressToken = null } = await server.request("tools/call");
  const params = { progressToken, progress: 5 };
  await server.say({ jsonrpc: "2.0", method: "notifications/progress", params });
  expect(await host.heard("notifications/progress")).toMatchObject({
    params: { progressToken: "p" },
  });
});

test("a refused call creates no task", async () => {
  const server = taskServer();
  const { host } = await openTestGate([server], { operations: ["other"] });
  refusalIn(await host.ask({ id: 1, method: "tools/call", params: { name: "run", task: {} } }));
  expect(server.requests("tools/call")).toEqual([]);
});
