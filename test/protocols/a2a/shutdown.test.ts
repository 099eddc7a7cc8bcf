import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { TaskState } from "@a2a-js/sdk";
import { expect, onTestFinished, test } from "vitest";
import { CALLERS, startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  authorized,
  callOf,
  clientOf,
  quietConsole,
  request,
  resultOf,
  rpc,
  send,
  taskIn,
  textAt,
} from "./callers.js";
import { AT_ONCE, agentFor, held } from "./set-up.js";

/** Makes a call over a persistent connection. */
function keptAlive(
  agent: TestAgent,
  connections: Agent,
  body: object,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      agent.server.rpcUrl,
      { method: "POST", agent: connections, headers: authorized("alice") },
      (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += String(chunk);
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on("error", reject);
    sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }));
  });
}

test("closing the server finishes running calls, refuses new calls, and does not wait for open connections", async () => {
  const agent = await agentFor();
  const { token } = await held(agent);
  const params = { skill: "wait", arguments: { milliseconds: 600 }, token };
  const connections = new Agent({ keepAlive: true, maxSockets: 1 });
  const underWay = keptAlive(agent, connections, { method: "a2a/skill/invoke", params });
  await expect.poll(() => agent.ran.length).toBe(1);

  const began = performance.now();
  const closed = agent.server.close();
  await pause(50);
  await expect(send(`${agent.server.url}/healthz`)).rejects.toThrow();
  // The same connection carries one more call, right after the first answer.
  const next = keptAlive(agent, connections, { method: "a2a/skill/invoke", params });
  const after = next.then(
    ({ text }) => text,
    () => "refused",
  );
  expect((await underWay).text).toContain('"waited":600');
  expect(await after).not.toContain("waited");
  await closed;
  // Sooner than an idle connection ends by itself.
  expect(performance.now() - began).toBeLessThan(5000);
  connections.destroy();
  expect(agent.ran).toEqual(["wait"]);
});

test("a task that still runs without a waiting client does not crash the process when the stores close", async () => {
  const agent = await agentFor();
  const { holder } = await held(agent);
  await holder.sendMessage({ ...callOf("wait", { milliseconds: 300 }), configuration: AT_ONCE });
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => rejections.push(reason);
  process.on("unhandledRejection", onRejection);
  await agent.stop();
  await pause(500);
  process.off("unhandledRejection", onRejection);
  expect(rejections).toEqual([]);
});

test("a client that disconnects does not cancel its task", async () => {
  const agent = await agentFor();
  const { holder } = await held(agent);
  const controller = new AbortController();
  let id = "";
  try {
    const options = { signal: controller.signal };
    for await (const { payload } of holder.sendMessageStream(
      callOf("wait", { milliseconds: 300 }),
      options,
    )) {
      if (payload?.$case === "task") id = payload.value.id;
      controller.abort();
    }
  } catch {
    // The test has aborted the stream.
  }
  await expect
    .poll(async () => (await holder.getTask({ tenant: "", id })).artifacts.length)
    .toBe(1);
  expect(resultOf(taskIn(await holder.getTask({ tenant: "", id })))).toEqual({ waited: 300 });
});

test("during shutdown, a request on an open connection gets 503 with the reason unavailable", async () => {
  const agent = await agentFor();
  const { token } = await held(agent);
  const params = { skill: "wait", arguments: { milliseconds: 1500 }, token };
  const call = { jsonrpc: "2.0", id: 1, method: "a2a/skill/invoke", params };
  const body = JSON.stringify(call);
  const { hostname, port } = new URL(agent.server.url);
  const socket = connect(Number(port), hostname);
  const said = text(socket);
  const post = [
    "POST /a2a/jsonrpc HTTP/1.1",
    "Host: agent",
    `Authorization: Bearer ${CALLERS.alice}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body,
  ].join("\r\n");
  socket.write(post);
  await expect.poll(() => agent.ran.length).toBe(1);
  const closed = agent.server.close();
  socket.write(`GET /readyz HTTP/1.1\r\nHost: agent\r\n\r\n${post}`);
  const [first = "", health = "", refused = ""] = (await said).split(/(?=HTTP\/1\.1 )/);
  expect(first).toMatch(/^HTTP\/1\.1 200 .*"waited":1500/s);
  expect(health).toMatch(/^HTTP\/1\.1 503 .*\{"status":"draining"\}/s);
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*Connection: close.*"reason":"unavailable"/s);
  await closed;
  expect(agent.ran).toEqual(["wait"]);
});

test("server.close() succeeds if it is called again, during or after the first call", async () => {
  const agent = await agentFor();
  await Promise.all([agent.server.close(), agent.server.close()]);
  await agent.server.close();
});

test("at the end of the grace period, streams end with a failed status, other running calls get 503, and one log line is written", async () => {
  const said = quietConsole();
  const agent = await startAgent({ grace: 300 });
  onTestFinished(() => agent.remove());
  const alice = await clientOf(agent, "JSON-RPC", "alice");
  const { token } = await request(alice, { grants: ["work:do"] });
  const before = said.length;
  const lasts = (["JSON-RPC", "HTTP+JSON"] as const).map(async (binding) => {
    const client = await clientOf(agent, binding, "alice", token);
    const events = [];
    for await (const { payload } of client.sendMessageStream(
      callOf("wait", { milliseconds: 60_000 }),
    )) {
      events.push(payload);
    }
    return events.at(-1);
  });
  const params = { skill: "wait", arguments: { milliseconds: 60_000 }, token };
  const invoked = rpc(agent, "alice", "a2a/skill/invoke", params);
  await expect.poll(() => agent.ran.length).toBe(3);
  const began = performance.now();
  await agent.stop();
  expect(performance.now() - began).toBeLessThan(20_000);
  for (const last of await Promise.all(lasts)) {
    expect(last).toMatchObject({
      $case: "statusUpdate",
      value: {
        status: {
          state: TaskState.TASK_STATE_FAILED,
          message: { parts: [{ content: { value: expect.stringContaining("shutting down") } }] },
        },
      },
    });
  }
  const { status, body } = await invoked;
  expect([status, textAt(body, "error", "data", 0, "reason")]).toEqual([503, "unavailable"]);
  const lines = agent.logged().split("\n");
  expect(lines.filter((line) => line.includes("still under way"))).toHaveLength(1);
  expect(agent.logged()).not.toContain('"stack"');
  expect(said.slice(before)).toEqual([]);
});
