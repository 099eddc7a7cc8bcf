import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { ERROR_CODES, ERROR_DOMAIN } from "../../../src/protocols/a2a/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { type Answer, at, quietConsole, send, textAt } from "./callers.js";
import { held, presenting, userMessage } from "./set-up.js";

// A caller that already runs the maximum number of calls gets an HTTP error for every further call, whatever
// the method.

let agent: TestAgent;
let token: string;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({ mostRunning: 1 });
  ({ token } = await held(agent));
});

afterAll(() => agent.remove());

function post(url: string, body: Json): Promise<Answer> {
  return send(url, { method: "POST", headers: presenting(token), body: JSON.stringify(body) });
}

const call = (milliseconds: number): Json => ({ skill: "wait", arguments: { milliseconds } });
const messageFor = (milliseconds: number): Json => ({
  message: userMessage([{ data: call(milliseconds) }]),
});

const rpc = (method: string, params: Json): Promise<Answer> =>
  post(agent.server.rpcUrl, { jsonrpc: "2.0", id: "seven", method, params });

test("a caller at its limit of running tasks gets 429 with Retry-After from every method that starts a task", async () => {
  const configuration = { returnImmediately: true };
  const first = await rpc("SendMessage", { ...Object(messageFor(20_000)), configuration });
  const id = textAt(first.body, "result", "task", "id");
  const busy = "this caller has the maximum of running tasks; wait until one is done";
  for (const [method, params] of [
    ["a2a/skill/invoke", call(0)],
    ["a2a/task/send", messageFor(0)],
    ["SendMessage", messageFor(0)],
    ["SendStreamingMessage", messageFor(0)],
  ] as const) {
    const { status, headers, body } = await rpc(method, params);
    expect({ method, status }).toEqual({ method, status: 429 });
    expect(headers.get("retry-after")).toBe("1");
    expect(body).toEqual({
      jsonrpc: "2.0",
      id: "seven",
      error: {
        code: ERROR_CODES.rateLimited,
        message: busy,
        data: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: "too_many_tasks",
            domain: ERROR_DOMAIN,
            metadata: {},
          },
        ],
      },
    });
  }
  for (const path of ["/message:send", "/message:stream"]) {
    const { status, headers, body } = await post(`${agent.server.restUrl}${path}`, messageFor(0));
    expect({ path, status }).toEqual({ path, status: 429 });
    expect(headers.get("retry-after")).toBe("1");
    expect(at(body, "error")).toMatchObject({
      code: 429,
      status: "RESOURCE_EXHAUSTED",
      message: busy,
      details: [{ reason: "too_many_tasks", domain: ERROR_DOMAIN }],
    });
  }
  await rpc("CancelTask", { id });
  expect((await rpc("SendMessage", messageFor(0))).status).toBe(200);
  expect(agent.ran).toEqual(["wait", "wait"]);
});
