import { connect, createServer, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/bytes/json.js";
import {
  type ConnectOptions,
  connectSession,
  type Session,
} from "../../../src/protocols/a2e/index.js";
import { codeOf, hosted, socketPath } from "./support.js";

// Tests the client against hostile, broken and silent hosts.

const GREETING = {
  type: "handshake/resp",
  req_id: "c1",
  ok: true,
  session_id: "ses_x",
  max_parallel: 4,
  accepted_caps: [{ capability: "tools", enabled: true, metadata: {} }],
};

/** Connects to a host that sends the given lines, and that reads but never answers. */
async function withHost(
  lines: readonly JsonObject[],
  more: Partial<ConnectOptions> = {},
): Promise<Session> {
  const server = createServer((socket) => {
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}).resume();
    socket.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return connectSession({
    to: { port },
    agentId: "it",
    capabilities: ["tools"],
    ...more,
  });
}

test("connectSession fails with the host's error code if the host answers the handshake with an error", async () => {
  for (const [reqId, code] of [
    ["c1", "message_invalid"],
    ["", "too_many_sessions"],
  ]) {
    const error = { type: "error", req_id: reqId ?? "", code: code ?? "", retryable: true };
    const attempt = withHost([error], { timeout: 60_000 });
    await expect(attempt).rejects.toMatchObject({ code, retryable: true });
  }
});

test("connectSession fails with version_mismatch if the host answers with another A2E version", async () => {
  for (const version of [
    { a2e: "2.0" },
    { version: "2.0" },
    { a2e: "1.0", version: 1 },
  ] as JsonObject[]) {
    const attempt = withHost([{ ...GREETING, ...version }]);
    await expect(attempt).rejects.toMatchObject({ code: "version_mismatch", retryable: false });
  }
  // The version in a refusal does not matter: the client reports the refusal's own reason.
  const refusal = { ...GREETING, ok: false, reason: "auth_failed", a2e: "2.0" };
  await expect(withHost([refusal])).rejects.toMatchObject({ code: "auth_failed" });
});

test("a call and a ping that the host never answers fail with timed_out", async () => {
  const session = await withHost([GREETING], { callTimeout: 20 });
  await expect(session.call("tool/call")).rejects.toMatchObject({
    code: "timed_out",
    retryable: true,
  });
  await expect(session.ping()).rejects.toMatchObject({ code: "timed_out" });
  await session.close();
});

test("if no call is running, close() does not wait for closeTimeout, even if the host keeps its end open", async () => {
  const session = await withHost([GREETING], { closeTimeout: 60_000 });
  await Promise.all([session.close(), session.close()]);
  expect(await session.over).toBeUndefined();
});

test("close() ends the session after closeTimeout if the host never answers a running call", async () => {
  const session = await withHost([GREETING], { closeTimeout: 20 });
  const calling = codeOf(session.call("tool/call"));
  await session.close();
  expect(await calling).toBe("session_ended");
  expect(await session.over).toBeUndefined();
});

test("a session/update right after the handshake disables a capability, and the client ignores unknown capability names", async () => {
  const updates = Array.from({ length: 100 }, (_, at) => ({
    type: "session/update",
    ended: ["tools"],
    reason: "",
    accepted_caps: [{ capability: `c${at}`, enabled: true, metadata: {} }],
  }));
  let taken = 0;
  const session = await withHost([GREETING, ...updates], {
    closeTimeout: 20,
    onUpdate: () => void taken++,
  });
  await expect.poll(() => taken).toBe(100);
  const kept = [...session.capabilities].map(([name, { enabled }]) => [name, enabled]);
  expect(kept).toEqual([["tools", false]]);
  await session.close();
});

test("if an onUpdate callback throws, its session ends and the process keeps running", async () => {
  const update = { type: "session/update", ended: ["tools"], reason: "revoked", accepted_caps: [] };
  const stream: { host?: Socket } = {};
  const server = createServer((socket) => {
    stream.host = socket.on("error", () => {}).resume();
    socket.write(`${JSON.stringify(GREETING)}\n`);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const session = await connectSession({
    to: { port },
    agentId: "it",
    capabilities: ["tools"],
    onUpdate: () => {
      throw new Error("it has no room");
    },
  });
  const calling = codeOf(session.call("tool/call"));
  stream.host?.write(`${JSON.stringify(update)}\n`);
  expect(await session.over).toMatchObject({
    code: "session_ended",
    message: "onUpdate threw: it has no room",
  });
  expect(await calling).toBe("session_ended");
});

test("connectSession refuses a stream that has an encoding", async () => {
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  stream.setEncoding("utf8");
  stream.push("{}\n");
  const attempt = connectSession({ to: stream, agentId: "it", capabilities: ["tools"] });
  await expect(attempt).rejects.toThrow("a stream of bytes has no encoding");
});

/** Starts a thread that listens but accepts no connection, and fills its queue of two waiting connections. */
async function busyAt(at: JsonObject): Promise<number> {
  const code = `
    const { parentPort, workerData: { at, held } } = require("node:worker_threads");
    const server = require("node:net").createServer().listen({ ...at, backlog: 1 }, () => {
      const address = server.address();
      parentPort.postMessage(typeof address === "string" ? 0 : address.port);
      setImmediate(() => Atomics.wait(new Int32Array(held), 0, 0));
    });`;
  const held = new SharedArrayBuffer(4);
  const worker = new Worker(code, { eval: true, workerData: { at, held } });
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    Atomics.store(new Int32Array(held), 0, 1);
    Atomics.notify(new Int32Array(held), 0);
    await worker.terminate();
  });
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  const to = at["path"] === undefined ? { port, host: "127.0.0.1" } : { path: String(at["path"]) };
  const full = new Promise<void>((resolve) => {
    for (let count = 0; count < 8; count++) {
      sockets.push(connect(to).on("error", () => resolve()));
    }
    if (at["path"] === undefined) resolve();
  });
  await full;
  return port;
}

test("the timeout of connectSession includes the time to establish the connection", async () => {
  const port = await busyAt({ port: 0, host: "127.0.0.1" });
  const attempt = connectSession({
    to: { port },
    agentId: "it",
    capabilities: ["tools"],
    timeout: 100,
  });
  expect(await codeOf(attempt)).toBe("handshake_timeout");
});

test("listen() does not replace the socket of a host that is too busy to accept", async () => {
  const path = socketPath();
  await busyAt({ path });
  const host = await hosted();
  await expect(host.host.listen({ path })).rejects.toThrow("another process may listen there");
});
