import { renameSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { Duplex, PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { connectSession } from "../../../src/protocols/a2e/index.js";
import { LOSSY, mistake } from "../../support/lossy.js";
import { codeOf, hosted, joined, newHeld, plugins, socketPath } from "./support.js";

test("the client connects and calls over TCP, over a Unix socket and over a pair of pipes", async () => {
  const host = await hosted();
  const token = host.token("tools");
  const path = socketPath();
  expect(await host.host.listen({ path })).toBe(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const [there, back] = [new PassThrough(), new PassThrough()];
  const served = host.host.accept(Duplex.from({ readable: there, writable: back }));
  const pipes = Duplex.from({ readable: back, writable: there });
  for (const to of [{ port: host.port }, { path }, pipes]) {
    const session = await connectSession({
      to,
      agentId: "it",
      capabilities: ["tools", "memory"],
      tokens: [token],
    });
    expect(session.capabilities.get("tools")).toMatchObject({
      enabled: true,
      metadata: { name: "sums" },
    });
    expect(await session.call("tool/call", { name: "add", arguments: { a: 1, b: 2 } })).toBe(3);
    await session.ping();
    expect(await codeOf(session.call("memory/get", { arguments: { key: "k" } }))).toBe(
      "capability_missing",
    );
    await session.close();
    expect(await session.over).toBeUndefined();
  }
  await served;
  await host.host.close();
  expect(() => statSync(path)).toThrow("ENOENT");
});

test("listen() replaces the socket of a dead host, and refuses a path with the socket of a live host or with a regular file", async () => {
  const host = await hosted();
  const path = socketPath();
  await host.host.listen({ path });
  await expect(host.host.listen({ path })).rejects.toThrow("another process listens there");
  const file = socketPath();
  writeFileSync(file, "mine");
  await expect(host.host.listen({ path: file })).rejects.toThrow("exists and is not a socket");
  const dead = socketPath();
  const child = createServer().listen(dead);
  await new Promise((resolve) => child.once("listening", resolve));
  // Leave the socket file in place after closing, as a killed process does.
  renameSync(dead, `${dead}.kept`);
  await new Promise((resolve) => child.close(resolve));
  renameSync(`${dead}.kept`, dead);
  await host.host.listen({ path: dead });
  const session = await connectSession({
    to: { path: dead },
    agentId: "it",
    capabilities: ["tools"],
    tokens: [host.token("tools")],
  });
  await session.close();
});

test.each(LOSSY)(
  "session.call and connectSession refuse %s in any argument, and no tool runs",
  async (_, make) => {
    const held = newHeld();
    const host = await hosted({ plugins: plugins(held) });
    const session = await joined(host, ["tools"], [host.token("tools")]);
    const value = make();
    const to = { port: host.port };
    const places: readonly (readonly [string, () => unknown])[] = [
      ["operation", () => session.call(value)],
      ["options", () => session.call("tool/call", value)],
      ["arguments", () => session.call("tool/call", { name: "wait", arguments: value })],
      ["arguments.a", () => session.call("tool/call", { name: "wait", arguments: { a: value } })],
      ["options", () => connectSession(value)],
      ["options.capabilities", () => connectSession({ to, agentId: "it", capabilities: value })],
      ["options.agentId", () => connectSession({ to, agentId: value, capabilities: ["tools"] })],
      [
        "options.tokens",
        () => connectSession({ to, agentId: "it", capabilities: ["tools"], tokens: value }),
      ],
    ];
    for (const [place, call] of places) {
      const message = await mistake(call);
      expect(message.startsWith(place), `${place}: ${message}`).toBe(true);
    }
    expect(held.ran).toEqual([]);
  },
);

test("a signal or a time limit ends a call both in the client and at the host", async () => {
  const held = newHeld();
  const host = await hosted({ plugins: plugins(held), limits: { parallel: 1 } });
  const session = await joined(host, ["tools"], [host.token("tools")]);
  const calling = new AbortController();
  const call = session.call("tool/call", { name: "wait", signal: calling.signal });
  await expect.poll(() => held.ran.length).toBe(1);
  expect(await codeOf(session.call("tool/list"))).toBe("too_many_parallel");
  calling.abort(new Error("no longer"));
  await expect(call).rejects.toThrow("no longer");
  expect(await session.call("tool/list")).toEqual(["add", "echo"]);
  const late = codeOf(session.call("tool/call", { name: "wait", timeout: 3000 }));
  await expect.poll(() => held.ran.length).toBe(2);
  host.timers.turn(3000);
  expect(await late).toBe("timed_out");
});

test("onChunk receives every part of an answer, even if there are more parts than the queue holds", async () => {
  const host = await hosted();
  const session = await joined(host, ["tools"], [host.token("tools")]);
  const parts: unknown[] = [];
  await session.call("tool/call", {
    name: "parts",
    arguments: { parts: 2000 },
    onChunk: (part) => void parts.push(part),
  });
  expect(parts).toHaveLength(2000);
  expect(parts.at(-1)).toEqual({ part: 1999 });
});

test("a SessionError has the host's code and every reason of the refusal", async () => {
  const host = await hosted();
  await expect(joined(host, ["tools"], [])).rejects.toMatchObject({
    name: "SessionError",
    code: "auth_failed",
    detail: { denials: [{ code: "capability_missing" }] },
  });
  await expect(joined(host, ["memory"], [host.token("tools")])).rejects.toMatchObject({
    code: "no_caps",
    detail: { accepted: [{ capability: "memory", enabled: false }] },
  });
  const session = await joined(
    host,
    ["tools"],
    [host.token("tools", { operations: ["tool/list"] })],
  );
  await expect(session.call("tool/call", { name: "add" })).rejects.toMatchObject({
    code: "permission_denied",
    capability: "tools",
    detail: { denials: [{ code: "operation_denied" }] },
  });
});

test("session.call and connectSession reject wrong arguments and options", async () => {
  const host = await hosted();
  const session = await joined(host, ["tools"], [host.token("tools")]);
  await expect(session.call("tools/call")).rejects.toThrow(TypeError);
  const misspelt: object = { nam: "add" };
  await expect(session.call("tool/call", misspelt)).rejects.toThrow('did you mean "name"?');
  const to = { port: host.port };
  const base = { to, agentId: "it", capabilities: ["tools"] };
  await expect(connectSession({ ...base, tokens: ["a,b"] })).rejects.toThrow("base64url");
  await expect(connectSession({ ...base, tokens: ["a"], ambient: true })).rejects.toThrow(
    "nothing is ambient",
  );
  await expect(connectSession({ ...base, limits: { line: 0 } })).rejects.toThrow("limits.line");
  await expect(connectSession({ ...base, callTimeout: 0 })).rejects.toThrow("callTimeout");
});

test.each([
  ["garbage", "not json\n", "line_malformed"],
  ["an endless line", "a".repeat(300_000), "line_too_large"],
  [
    "another request's answer",
    '{"type":"handshake/resp","req_id":"other","ok":true}\n',
    "message_invalid",
  ],
  [
    "a session without an id",
    '{"type":"handshake/resp","req_id":"c1","ok":true,"session_id":"","max_parallel":4}\n',
    "message_invalid",
  ],
  ["the end of the stream", "", "session_ended"],
])(
  "connectSession fails with an error code if the host answers with %s",
  async (_, bytes, code) => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.end(bytes);
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(
      await codeOf(connectSession({ to: { port }, agentId: "it", capabilities: ["tools"] })),
    ).toBe(code);
  },
);

test("connectSession fails if the host does not answer in time, or if the signal is aborted", async () => {
  const server = createServer((socket) => void socket.on("error", () => {})).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const base = { to: { port }, agentId: "it", capabilities: ["tools"] };
  expect(await codeOf(connectSession({ ...base, timeout: 20 }))).toBe("handshake_timeout");
  const calling = new AbortController();
  const attempt = connectSession({ ...base, signal: calling.signal });
  calling.abort(new Error("no longer"));
  await expect(attempt).rejects.toThrow("no longer");
});
