import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { CALLERS, type TestAgent } from "../../support/a2a-agent.js";
import { authorized, callOf, resultOf, send, taskIn } from "./callers.js";
import { AT_ONCE, agentFor, held } from "./set-up.js";

/** A call over a connection that is kept, and may be used again. */
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

test("shutting down finishes what is under way, takes nothing new, and does not dawdle", async () => {
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
  // Sent by the same connection, as soon as the first is answered.
  const next = keptAlive(agent, connections, { method: "a2a/skill/invoke", params });
  const after = next.then(
    ({ text }) => text,
    () => "refused",
  );
  expect((await underWay).text).toContain('"waited":600');
  expect(await after).not.toContain("waited");
  await closed;
  expect(performance.now() - began).toBeLessThan(3000);
  connections.destroy();
  expect(agent.ran).toEqual(["wait"]);
});

test("a task that nobody waits for does not bring the process down when the stores are closed", async () => {
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

test("a client that goes away does not take its task with it", async () => {
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
    // What was aborted.
  }
  await expect
    .poll(async () => (await holder.getTask({ tenant: "", id })).artifacts.length, {
      timeout: 3000,
    })
    .toBe(1);
  expect(resultOf(taskIn(await holder.getTask({ tenant: "", id })))).toEqual({ waited: 300 });
});

test("what still comes by an open connection while the server closes is told so", async () => {
  const agent = await agentFor();
  const { token } = await held(agent);
  const params = { skill: "wait", arguments: { milliseconds: 400 }, token };
  const call = { jsonrpc: "2.0", id: 1, method: "a2a/skill/invoke", params };
  const body = JSON.stringify(call);
  const { hostname, port } = new URL(agent.server.url);
  const socket = connect(Number(port), hostname);
  const said = text(socket);
  const post = [
    "POST /a2a/jsonrpc HTTP/1.1",
    ...["Host: agent", `Authorization: Bearer ${CALLERS.alice}`, "Content-Type: application/json"],
    ...[`Content-Length: ${Buffer.byteLength(body)}`, "", body],
  ].join("\r\n");
  socket.write(post);
  await expect.poll(() => agent.ran.length).toBe(1);
  const closed = agent.server.close();
  socket.write(`GET /healthz HTTP/1.1\r\nHost: agent\r\n\r\n${post}`);
  const [first = "", health = "", refused = ""] = (await said).split(/(?=HTTP\/1\.1 )/);
  expect(first).toMatch(/^HTTP\/1\.1 200 .*"waited":400/s);
  expect(health).toMatch(/^HTTP\/1\.1 503 .*\{"status":"draining"\}/s);
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*Connection: close.*"reason":"unavailable"/s);
  await closed;
  expect(agent.ran).toEqual(["wait"]);
});

test("closing twice is closing once", async () => {
  const agent = await agentFor();
  await Promise.all([agent.server.close(), agent.server.close()]);
  await agent.server.close();
});
