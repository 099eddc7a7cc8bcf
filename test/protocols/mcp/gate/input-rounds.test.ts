import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import { NEW_META, openTestGate, RawServer, refusalIn, tool } from "./support.js";

const CONFIRM = {
  method: "elicitation/create",
  params: { mode: "form", message: "really?", requestedSchema: { type: "object", properties: {} } },
};
const SAMPLE = { method: "sampling/createMessage", params: { messages: [], maxTokens: 9 } };
const ACCEPTED = { confirm: { action: "accept" } };
const PAY = { operations: ["pay", "client:elicitation"] };

/** Returns a server that requests a confirmation before it pays. */
function bank(
  asked: JsonObject = { inputRequests: { confirm: CONFIRM }, requestState: "s1" },
): RawServer {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("pay", "amount"), tool("other")] };
  const paid: JsonObject = {
    resultType: "complete",
    content: [{ type: "text", text: "paid" }],
  };
  const question: JsonObject = { resultType: "input_required", ...asked };
  server.answers["tools/call"] = (request) =>
    JSON.stringify(request).includes('"action":"accept"') ? paid : question;
  return server;
}

function pay(id: number, params: JsonObject = {}, token?: string): JsonObject {
  const _meta = token === undefined ? NEW_META : { ...NEW_META, "dev.proviso/capability": token };
  return {
    id,
    method: "tools/call",
    params: { name: "pay", arguments: { amount: "10" }, ...params, _meta },
  };
}

const NEW = { era: "new" } as const;

/** The answer to a retry that continues no call. */
const UNKNOWN = {
  error: { code: -32602, data: { "dev.proviso/denials": [{ code: "input_unknown" }] } },
};

test("a call for which the server requests input succeeds when the host repeats it with the input", async () => {
  const server = bank();
  const { host } = await openTestGate([server], PAY);
  const asked = await host.ask(pay(1), NEW);
  expect(asked).toMatchObject({
    result: { requestState: "s1", inputRequests: { confirm: CONFIRM } },
  });
  const retry = pay(2, { inputResponses: ACCEPTED, requestState: "s1" });
  expect(await host.ask(retry, NEW)).toMatchObject({ result: { content: [{ text: "paid" }] } });
});

test("a result that requests an input which the tokens do not allow does not reach the host", async () => {
  const server = bank({ inputRequests: { confirm: CONFIRM, steal: SAMPLE }, requestState: "s1" });
  const { host } = await openTestGate([server], PAY);
  expect(refusalIn(await host.ask(pay(1), NEW))).toMatchObject({
    codes: ["operation_denied"],
    sentence:
      "Refused by proviso: the server asks the host for sampling/createMessage, which is not allowed: " +
      'the tokens do not have the operation "client:sampling".',
  });
  const retry = pay(2, { inputResponses: ACCEPTED, requestState: "s1" });
  expect(await host.ask(retry, NEW)).toMatchObject(UNKNOWN);
  expect(server.requests("tools/call")).toHaveLength(1);
});

test("a result that requests an input of an unknown kind does not reach the host, whatever the tokens allow", async () => {
  const server = bank({
    inputRequests: { x: { method: "files/read", params: {} } },
    requestState: "s",
  });
  const { host } = await openTestGate([server], { anyOperation: true });
  expect(refusalIn(await host.ask(pay(1), NEW)).codes).toEqual(["operation_denied"]);
});

test.each<[string, JsonObject]>([
  ["another state", { inputResponses: ACCEPTED, requestState: "s2" }],
  [
    "other arguments",
    { inputResponses: ACCEPTED, requestState: "s1", arguments: { amount: "9999" } },
  ],
  ["another tool", { inputResponses: ACCEPTED, requestState: "s1", name: "other" }],
  ["answers that are no object", { inputResponses: [], requestState: "s1" }],
  ["a state that is no string", { inputResponses: ACCEPTED, requestState: 1 }],
])(
  "the retry of a call for which the server requested input is refused if the retry has %s",
  async (_, params) => {
    const server = bank();
    const { host } = await openTestGate([server], {
      operations: ["pay", "other", "client:elicitation"],
    });
    await host.ask(pay(1), NEW);
    expect(await host.ask(pay(2, params), NEW)).toMatchObject(UNKNOWN);
    expect(server.requests("tools/call")).toHaveLength(1);
  },
);

test("answers to inputs that the server has not requested do not reach the server", async () => {
  const server = bank();
  const { host } = await openTestGate([server], PAY);
  await host.ask(pay(1), NEW);
  const params = { inputResponses: { more: {}, ...ACCEPTED, again: {} }, requestState: "s1" };
  expect(await host.ask(pay(2, params), NEW)).toMatchObject({
    result: { content: [{ text: "paid" }] },
  });
  expect(server.requests("tools/call").at(-1)).toMatchObject({
    params: { inputResponses: ACCEPTED },
  });
  expect(server.requests("tools/call").at(-1)).not.toHaveProperty("params.inputResponses.more");
  expect(server.requests("tools/call").at(-1)).not.toHaveProperty("params.inputResponses.again");
});

test("a retry with the request state of another token holder's call is refused", async () => {
  const server = bank();
  const { host, mint } = await openTestGate([server]);
  const [mine, theirs] = [mint(PAY), mint(PAY)];
  await host.ask(pay(1, {}, mine), NEW);
  const params = { inputResponses: ACCEPTED, requestState: "s1" };
  expect(await host.ask(pay(2, params, theirs), NEW)).toMatchObject(UNKNOWN);
  expect(await host.ask(pay(3, params, mine), NEW)).toMatchObject({
    result: { content: [{ text: "paid" }] },
  });
});

test("a retry is refused if its token was revoked after the server had requested input", async () => {
  const server = bank();
  const { host, issuer, revocations, mint } = await openTestGate([server], PAY);
  const token = mint(PAY);
  await host.ask(pay(1, {}, token), NEW);
  const revocation = issuer.revocationOf(token);
  if (!revocation.ok) throw new Error("no entry");
  await revocations.add(revocation.entry);
  const params = { inputResponses: ACCEPTED, requestState: "s1" };
  expect(refusalIn(await host.ask(pay(2, params, token), NEW)).codes).toEqual(["revoked"]);
});

test("without a request state, an answer reaches the server only with the call for which the server requested it", async () => {
  const server = bank({ inputRequests: { confirm: CONFIRM } });
  const { host } = await openTestGate([server], PAY);
  const retry = { inputResponses: ACCEPTED };
  const again = { result: { inputRequests: { confirm: CONFIRM } } };
  expect(await host.ask(pay(1, retry), NEW)).toMatchObject(again);
  await host.ask(pay(2), NEW);
  const other = { ...retry, arguments: { amount: "11" } };
  expect(await host.ask(pay(3, other), NEW)).toMatchObject(again);
  expect(await host.ask(pay(4, retry), NEW)).toMatchObject({
    result: { content: [{ text: "paid" }] },
  });
});

test.each<[string, JsonObject]>([
  ["an array of requests", { inputRequests: [CONFIRM], requestState: "s1" }],
  ["a string", { inputRequests: "confirm" }],
  ["a request without a method", { inputRequests: { confirm: {} } }],
])("a result with %s as inputRequests does not reach the host", async (_, asked) => {
  const { host } = await openTestGate([bank(asked)], { anyOperation: true });
  expect(refusalIn(await host.ask(pay(1), NEW)).codes).toEqual(["operation_denied"]);
});

test.each(["tools/list", "resources/list", "server/discover"])(
  "an answer to %s that requests input from the host does not reach the host",
  async (method) => {
    const server = new RawServer();
    server.answers[method] = { resultType: "input_required", inputRequests: { x: CONFIRM } };
    const { host } = await openTestGate([server], { anyOperation: true });
    expect(await host.ask({ id: 1, method, params: { _meta: NEW_META } }, NEW)).toMatchObject({
      error: { code: -32603 },
    });
    expect(host.received.join()).not.toContain("really?");
  },
);

test.each([
  ["tools/list", "new", {}],
  ["resources/list", "new", {}],
  ["server/discover", "new", {}],
  ["subscriptions/listen", "new", { notifications: {} }],
  ["tasks/get", "new", { taskId: "t1" }],
  ["tasks/cancel", "new", { taskId: "t1" }],
  ["initialize", "old", { protocolVersion: "2025-11-25" }],
  ["ping", "old", {}],
  ["logging/setLevel", "old", { level: "info" }],
  ["tasks/result", "old", { taskId: "t1" }],
] as const)(
  "the request %s with input for the server is refused, and does not reach the server",
  async (method, era, params) => {
    const server = bank();
    const task: JsonObject = { resultType: "task", taskId: "t1", status: "working" };
    const task25: JsonObject = { task: { taskId: "t1", status: "working" } };
    server.answers["tools/call"] = era === "new" ? task : task25;
    const { host } = await openTestGate([server], { operations: ["pay", "resources:read"] });
    await host.ask(pay(1), { era });
    server.received.length = 0;
    const _meta = era === "new" ? NEW_META : {};
    const inputs: readonly JsonObject[] = [{ inputResponses: ACCEPTED }, { requestState: "s1" }];
    for (const [id, input] of inputs.entries()) {
      const asked = { id: id + 10, method, params: { ...params, ...input, _meta } };
      expect(await host.ask(asked, { era })).toMatchObject({ error: { code: -32602 } });
    }
    expect(server.received).toEqual([]);
  },
);

test("tasks/update with a request state is refused, and does not reach the server", async () => {
  const server = bank();
  server.answers["tools/call"] = { resultType: "task", taskId: "t1", status: "working" };
  const { host } = await openTestGate([server], PAY);
  await host.ask(pay(1), NEW);
  const params = { taskId: "t1", inputResponses: {}, requestState: "s1", _meta: NEW_META };
  expect(await host.ask({ id: 2, method: "tasks/update", params }, NEW)).toMatchObject({
    error: { code: -32602 },
  });
  expect(server.requests("tasks/update")).toEqual([]);
});
