import { beforeEach, expect, test } from "vitest";
import { at, authorized, quietConsole, send, textAt } from "./callers.js";
import { agentFor, held, userMessage } from "./set-up.js";
import { SIDES } from "./sides.js";

// Callers choose ids, URLs and method names, and these values can reach logs.

let said: readonly string[] = [];

beforeEach(() => {
  said = quietConsole();
});

const FORGED = 'x\n{"level":50,"msg":"forged"}';
const LONG = "y".repeat(129);

test.each(SIDES)("%s refuses ids that could forge log lines", async (_, start) => {
  const { rpcUrl, restUrl, headers } = await start();
  said = quietConsole();
  const post = async (method: string, params: object, id: unknown = 1) =>
    (
      await send(rpcUrl, {
        method: "POST",
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
      })
    ).body;
  const message = userMessage([{ text: "say hi" }]);
  for (const odd of [FORGED, LONG, "naïve", "\u202e"]) {
    for (const [method, params, where] of [
      ["GetTask", { id: odd }, "params.id"],
      ["SubscribeToTask", { id: odd }, "params.id"],
      ["CancelTask", { id: odd }, "params.id"],
      ["ListTasks", { contextId: odd }, "params.contextId"],
      ["ListTasks", { context_id: odd }, "params.context_id"],
      ["ListTaskPushNotificationConfigs", { task_id: odd }, "params.task_id"],
      ["SendMessage", { message: { ...message, taskId: odd } }, "params.message.taskId"],
      [
        "SendStreamingMessage",
        { message: { ...message, context_id: odd } },
        "params.message.context_id",
      ],
      [
        "SendMessage",
        { message: { ...message, referenceTaskIds: ["x", odd] } },
        "params.message.referenceTaskIds[1]",
      ],
    ] as const) {
      const error = at(await post(method, params), "error");
      expect([at(error, "code"), at(error, "message")]).toEqual([
        -32602,
        `${where} must be at most 128 printable ASCII characters`,
      ]);
    }
    const path = `${restUrl}/tasks/${encodeURIComponent(odd)}`;
    for (const [method, url] of [
      ["GET", path],
      ["POST", `${path}:cancel`],
      ["POST", `${path}:subscribe`],
      ["GET", `${path}/pushNotificationConfigs`],
      ["GET", `${restUrl}/tasks?contextId=${encodeURIComponent(odd)}`],
    ] as const) {
      const answer = await send(url, { method, headers });
      expect(answer.status).toBe(400);
      expect(textAt(answer.body, "error", "message")).toContain("128 printable ASCII characters");
    }
  }
  for (const odd of [FORGED, LONG]) {
    const sent = await post("SendMessage", { message: { ...message, messageId: odd } });
    expect(textAt(sent, "error", "message")).toContain(
      "params.message.messageId must be at most 128",
    );
    const streamed = await post("SubscribeToTask", { id: "none" }, odd);
    expect(textAt(streamed, "error", "message")).toContain('"id" must be a whole number');
  }
  // "none" is a valid id, but no task has it.
  const referring = { ...message, referenceTaskIds: ["none", "none"] };
  expect(at(await post("SendMessage", { message: referring }), "error")).toBeNull();
  expect(said).toEqual([]);
});

test.each(SIDES)(
  "%s answers -32602 to an object, array or number where a parameter has another type",
  async (_, start) => {
    const { rpcUrl, headers } = await start();
    const formless = { toString: null, valueOf: null };
    for (const [method, params] of [
      ["GetTask", { id: formless }],
      ["GetTask", { id: 7 }],
      ["GetTask", { id: "x", historyLength: formless }],
      ["GetTask", { id: "x", history_length: [formless] }],
      ["CancelTask", { id: ["x"] }],
      ["ListTasks", { pageToken: formless }],
      ["ListTasks", { page_token: 7 }],
      ["ListTasks", { pageSize: formless }],
      ["ListTasks", { contextId: formless }],
      ["ListTasks", { statusTimestampAfter: formless }],
      ["SubscribeToTask", { id: formless }],
      ["GetTaskPushNotificationConfig", { taskId: formless, id: "x" }],
      ["CreateTaskPushNotificationConfig", { taskId: "x", id: "x", url: formless }],
      ["CreateTaskPushNotificationConfig", { taskId: "x", authentication: { scheme: formless } }],
      ["SendMessage", { message: { messageId: formless, role: "ROLE_USER", parts: [] } }],
    ] as const) {
      const { body } = await send(rpcUrl, {
        method: "POST",
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      expect([method, params, at(body, "error", "code")]).toEqual([method, params, -32602]);
    }
    const absent = { jsonrpc: "2.0", id: 1, method: "ListTasks", params: { pageToken: null } };
    const listed = await send(rpcUrl, { method: "POST", headers, body: JSON.stringify(absent) });
    expect(at(listed.body, "result", "tasks")).toEqual([]);
  },
);

test.each(SIDES)("%s accepts extra slashes at the end of the JSON-RPC URL", async (_, start) => {
  const { rpcUrl, headers } = await start();
  const message = userMessage([{ text: "say hi" }]);
  const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
  for (const slashes of ["/", "//"]) {
    const { body } = await send(`${rpcUrl}${slashes}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...call, params: { message: { ...message, messageId: slashes } } }),
    });
    expect([at(body, "error"), at(body, "result") === null]).toEqual([null, false]);
  }
});

test.each(SIDES)(
  "%s sends Cache-Control: no-store with answers to authenticated callers",
  async (_, start) => {
    const { rpcUrl, restUrl, headers } = await start();
    const rpc = { jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} };
    for (const answer of [
      await send(`${restUrl}/tasks`, { headers }),
      await send(`${restUrl}/tasks/none`, { headers }),
      await send(rpcUrl, { method: "POST", headers, body: JSON.stringify(rpc) }),
      await send(rpcUrl, {
        method: "POST",
        headers,
        body: JSON.stringify({ ...rpc, method: "a2a/capabilities/introspect" }),
      }),
    ]) {
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  },
);

test("the log names a request's route, without ids from its URL and without unknown method names", async () => {
  const agent = await agentFor();
  const { token } = await held(agent);
  const { rpcUrl, restUrl } = agent.server;
  const headers = authorized("alice");
  const secret = "s3cret-of-alice";
  for (const [method, path] of [
    ["GET", `/tasks/${secret}`],
    ["GET", `/tasks/${token}`],
    ["GET", `/${secret}/tasks/x`],
    ["POST", `/tasks/${secret}:cancel`],
    ["GET", `/tasks/${secret}/pushNotificationConfigs/x`],
    ["GET", `/${token}`],
  ] as const) {
    await send(`${restUrl}${path}`, { method, headers });
  }
  for (const method of [token, secret, "tasks/get"]) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} });
    await send(rpcUrl, { method: "POST", headers, body });
  }
  const lines = agent
    .logged()
    .split("\n")
    .filter((line) => line.includes('"request"'))
    .map((line): unknown => JSON.parse(line).method)
    .slice(-9);
  expect(lines).toEqual([
    "GET /tasks/…",
    "GET /tasks/…",
    "GET /…/tasks/…",
    "POST /tasks/…:cancel",
    "GET /tasks/…/pushNotificationConfigs/…",
    "GET /…",
    "POST",
    "POST",
    "tasks/get",
  ]);
  expect(agent.logged()).not.toContain(token.slice(0, 24));
  expect(agent.logged()).not.toContain(secret);
});
