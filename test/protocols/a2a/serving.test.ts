import { TaskState } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { createFixedTokens } from "../../../src/auth/index.js";
import type { Json } from "../../../src/bytes/json.js";
import { serve } from "../../../src/http/serve.js";
import { withCapability } from "../../../src/protocols/a2a/client/index.js";
import { mountA2A, serveAgent } from "../../../src/protocols/a2a/server.js";
import { at, authorized, callOf, clientOf, request, rpc, send, taskIn } from "./callers.js";
import { agentFor, held, userMessage } from "./set-up.js";

test("/healthz answers ok, and the metrics count requests and decisions", async () => {
  const agent = await agentFor();
  expect(await send(`${agent.server.url}/healthz`)).toMatchObject({
    status: 200,
    body: { status: "ok" },
  });

  const { token } = await held(agent);
  const call = { skill: "wait", arguments: { milliseconds: 0 } };
  await rpc(agent, "alice", "a2a/skill/invoke", { ...call, token });
  await rpc(agent, "alice", "a2a/skill/invoke", call);
  await rpc(agent, "alice", "a2a/capabilities/revoke", { token });
  await rpc(agent, "alice", "a2a/skill/invoke", { ...call, token });
  await send(`${agent.server.restUrl}/tasks`, { headers: authorized("alice") });

  // Metrics are for the operator; callers cannot read them.
  expect((await send(`${agent.server.url}/metrics`)).status).toBe(404);
  const { text } = await agent.metrics.read();
  for (const line of [
    'proviso_decisions_total{kind="issuance",decision="allowed",code="",authority=""} 1',
    'proviso_decisions_total{kind="invocation",decision="allowed",code="",authority="capability"} 1',
    'proviso_decisions_total{kind="invocation",decision="refused",code="capability_missing",authority=""} 2',
    'proviso_decisions_total{kind="invocation",decision="refused",code="revoked",authority=""} 1',
    'proviso_decisions_total{kind="revocation",decision="allowed",code="",authority=""} 1',
    'proviso_decision_seconds_count{kind="invocation"} 4',
    'proviso_request_seconds_count{binding="jsonrpc",status="200"} 5',
    'proviso_request_seconds_count{binding="rest",status="403"} 1',
    "proviso_revocation_entries 1",
    "proviso_revocation_version 1",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  expect(text).toMatch(/^proviso_revocation_age_seconds [\d.e-]+$/m);
});

test("the log line of a request has its caller and its denials, but not its arguments", async () => {
  const agent = await agentFor();
  const call = { skill: "pay", arguments: { amount: 271828, to: "bob" } };
  await rpc(agent, "alice", "a2a/skill/invoke", call);
  const lines = agent
    .logged()
    .trim()
    .split("\n")
    .map((line): Json => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({
    msg: "request",
    binding: "jsonrpc",
    method: "a2a/skill/invoke",
    status: 200,
    denials: "capability_missing",
    principal: "alice",
    invoker: "orchestrator",
    milliseconds: expect.any(Number),
  });
  expect(agent.logged()).not.toContain("271828");
});

test("trustedProxies may contain names such as loopback, and address ranges", async () => {
  const agent = await agentFor({ trustedProxies: ["loopback", "10.0.0.0/8"] });
  const { holder } = await held(agent);
  const task = taskIn(await holder.sendMessage(callOf("wait", { milliseconds: 0 })));
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
});

test("unknown URLs and HTTP methods get 404 or 405", async () => {
  const agent = await agentFor();
  const { url, restUrl, rpcUrl } = agent.server;
  for (const path of ["/", "/a2a", "/favicon.ico", "/.well-known/agent.json"]) {
    expect(await send(`${url}${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 404, status: "NOT_FOUND" } },
    });
  }
  expect((await send(`${restUrl}/nothing`, { headers: authorized("alice") })).status).toBe(404);
  expect((await send(`${restUrl}/nothing`)).status).toBe(401);
  // JSON-RPC methods are available only through POST at the JSON-RPC URL.
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "a2a/capabilities/request",
    params: { grants: ["work:do"] },
  });
  for (const [address, method] of [
    [rpcUrl, "PUT"],
    [rpcUrl, "DELETE"],
    [`${rpcUrl}/further`, "POST"],
  ] as const) {
    const answer = await send(address, { method, headers: authorized("alice"), body });
    expect(answer.text).not.toContain("cap_");
    expect([404, 405]).toContain(answer.status);
  }
});

test("a URL that cannot be decoded gets a 4xx error", async () => {
  const agent = await agentFor();
  for (const path of ["/%zz", "/a2a/rest/tasks/%zz"]) {
    const answer = await send(`${agent.server.url}${path}`, { headers: authorized("alice") });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(at(answer.body, "error")).not.toBeNull();
  }
});

test("without credentials, HEAD and OPTIONS get 401 at the JSON-RPC and HTTP+JSON URLs, and run nothing", async () => {
  const agent = await agentFor();
  const { url, cardUrl, rpcUrl, restUrl } = agent.server;
  const head = await send(cardUrl, { method: "HEAD" });
  expect(head).toMatchObject({ status: 200, text: "" });
  expect((await send(`${url}/healthz`, { method: "HEAD" })).status).toBe(200);
  for (const address of [rpcUrl, `${restUrl}/tasks`]) {
    for (const method of ["HEAD", "OPTIONS"]) {
      const answer = await send(address, { method });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
  }
  expect(agent.ran).toEqual([]);
  expect((await send(cardUrl)).headers.get("x-powered-by")).toBeNull();
});

test("if the ledger cannot be written, calls fail, and the reason is in the log but not in the answers", async () => {
  const agent = await agentFor();
  const { token } = await held(agent);
  // The agent can no longer record events in the ledger, so it must run no call.
  await agent.ledger.close();
  const secret = /ledger|proviso-a2a-|\.db|closed/;
  const call = callOf("wait", { milliseconds: 0 });
  for (const binding of ["JSON-RPC", "HTTP+JSON"] as const) {
    const alice = await clientOf(agent, binding, "alice");
    const holder = await withCapability(alice, token);
    const error: unknown = await request(alice, { grants: ["work:do"] }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toMatch(secret);
    const task = taskIn(await holder.sendMessage(call));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    expect(JSON.stringify(task)).not.toMatch(secret);
  }
  for (const [method, params] of [
    ["a2a/capabilities/request", { grants: ["work:do"] }],
    ["a2a/skill/invoke", { skill: "wait", arguments: { milliseconds: 0 }, token }],
    ["a2a/capabilities/revoke", { token }],
  ] as const) {
    const answer = await rpc(agent, "alice", method, params);
    expect(answer.body).toMatchObject({ error: { code: -32603 } });
    expect(answer.text).not.toMatch(secret);
  }
  expect(agent.ran).toEqual([]);
  expect(agent.logged()).toContain("the ledger is closed");
});

test("serve() serves A2A beside another route on one port, and stops A2A when the server closes", async () => {
  const { agent, tasks } = await agentFor();
  const answer = (): never => {
    throw new Error("nothing is thrown here");
  };
  const stopped: string[] = [];
  const own = { token: "a-token-of-the-test", principal: "alice", invoker: "assistant" };
  const served = await serve({ answer, onFailure: answer }, {}, (place) => {
    place.app.get("/other", (_req, res) => void res.json({ draining: place.isDraining() }));
    const a2a = mountA2A(
      {
        agent,
        tasks,
        log: { info() {}, warn() {}, error() {} },
        authenticator: createFixedTokens([own], { development: true, announce: () => {} }),
        card: { name: "Documents", description: "Beside another", version: "1.0.0" },
      },
      place,
    );
    return { ...a2a, stop: () => a2a.stop().finally(() => stopped.push("both")) };
  });
  const { cardUrl, rpcUrl } = served.mounted;
  expect((await send(`${served.url}/other`)).body).toEqual({ draining: false });
  expect(at((await send(cardUrl)).body, "supportedInterfaces", 0, "url")).toBe(rpcUrl);
  expect((await send(rpcUrl, { method: "POST" })).status).toBe(401);
  expect((await send(`${served.url}/readyz`)).body).toEqual({ status: "ok" });
  await served.close();
  expect(stopped).toEqual(["both"]);
  await expect(send(cardUrl)).rejects.toThrow();
});

test("the log names the called method a2a/task/send, although the agent handles the call as SendMessage", async () => {
  const agent = await agentFor();
  const { token } = await held(agent);
  const message = userMessage([{ text: "hello" }]);
  await rpc(agent, "alice", "a2a/task/send", { message, token });
  await agent.stop();
  expect(agent.logged()).toContain('"method":"a2a/task/send"');
});

test("serveAgent refuses missing, unknown and wrong options, and the error names the option", async () => {
  const { agent, tasks } = await agentFor();
  const authenticator = { authenticate: async () => Promise.reject(new Error("not asked")) };
  const log = { info() {}, warn() {}, error() {} };
  const card = { name: "A", description: "B", version: "1" };
  const whole = { agent, authenticator, tasks, log, card };
  for (const [options, message] of [
    [{ ...whole, timeOut: 1 }, 'options.timeOut: unknown property; did you mean "timeout"?'],
    [{ ...whole, trustedProxy: [] }, 'did you mean "trustedProxies"?'],
    [{ ...whole, trustedProxies: ["proxy.example"] }, "options.trustedProxies: invalid IP address"],
    [{ ...whole, log: undefined }, "options.log: is missing"],
    [{ ...whole, card: { title: "A" } }, "options.card.name: must be a string"],
  ] as const) {
    await expect(serveAgent(Object(options))).rejects.toThrow(message);
  }
});
