import { once } from "node:events";
import { request as requestHttp } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  LoggingMessageNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import { openHttpServer } from "../../../../src/protocols/mcp/server/http-server.js";
import { Recorder, Relay, serveModern, startEverything } from "../support.js";
import {
  ask,
  call,
  codeOf,
  deferred,
  type Headers,
  initialized,
  MODERN,
  modern,
  never,
  open,
  POST,
  post,
  served,
} from "./http-support.js";

test("the official client of 2025-11-25 works through the HTTP front and an HTTP connection to a server", async () => {
  const { url: upstream, process: child } = await startEverything();
  onTestFinished(() => void child.kill());
  const { url } = await served({
    open: async () => ({ session: new Relay(openHttpServer({ url: upstream })), ended: never }),
  });
  const client = new OldClient({ name: "t", version: "1" }, { capabilities: { sampling: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "sampled" },
  }));
  const transport = new OldTransport(url);
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.length).toBeGreaterThan(5);
  const progress: number[] = [];
  const long = { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } };
  await client.callTool(long, undefined, { onprogress: (one) => void progress.push(one.progress) });
  expect(progress).toEqual([1, 2, 3]);
  const asked = { name: "trigger-sampling-request", arguments: { prompt: "x", maxTokens: 5 } };
  expect(JSON.stringify(await client.callTool(asked))).toContain("sampled");
  const logged = new Promise((resolve) => {
    client.setNotificationHandler(LoggingMessageNotificationSchema, resolve);
  });
  await client.callTool({ name: "toggle-simulated-logging", arguments: {} });
  await logged;
  await transport.terminateSession();
  await expect(client.listTools()).rejects.toThrow();
  await client.close();
});

test("the official client of 2026-07-28 works through the HTTP front and an HTTP connection to a server", async () => {
  let isSlow = false;
  const cancelled: boolean[] = [];
  const upstream = await serveModern(() => {
    const made = new McpServer({ name: "m", version: "1" }, { capabilities: { tools: {} } });
    const properties = { text: { type: "string", "x-mcp-header": "Text" } } as const;
    const inputSchema = fromJsonSchema<{ text: string }>({ type: "object", properties });
    made.registerTool("echo", { inputSchema }, async ({ text }, { mcpReq }) => {
      if (text === "progress") await mcpReq.log?.("info", "half");
      if (text === "slow") {
        isSlow = true;
        await once(mcpReq.signal, "abort");
        cancelled.push(true);
      }
      return { content: [{ type: "text", text }] };
    });
    return made;
  });
  const { url, opened } = await served({
    open: async () => ({ session: new Relay(openHttpServer({ url: upstream })), ended: never }),
  });
  const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(url));
  expect(client.getProtocolEra()).toBe("modern");
  await client.listTools();
  for (const text of ["plain", "Ünïcode é🙂"]) {
    const { content } = await client.callTool({ name: "echo", arguments: { text } });
    expect(content).toEqual([{ type: "text", text }]);
  }
  const stop = new AbortController();
  const slow = client.callTool(
    { name: "echo", arguments: { text: "slow" } },
    { signal: stop.signal },
  );
  await expect.poll(() => isSlow).toBe(true);
  stop.abort();
  await expect(slow).rejects.toThrow();
  // The end of the HTTP exchange cancels the call at the server.
  await expect.poll(() => cancelled).toEqual([true]);
  expect(opened).toEqual([]);
  await client.close();
});

test("in the new era, all clients share one session, and each request has its own tokens", async () => {
  const { url, sessions, opened } = await served();
  const headers = { ...MODERN, "mcp-method": "tools/call", "mcp-name": "a", "mcp-param-x": "y" };
  const body = modern(1, "tools/call", { name: "a" });
  const first = await post(url, body, { ...headers, "proviso-capability": "one, two" });
  await post(url, body, {
    ...headers,
    authorization: "Bearer three",
    "proviso-capability": "four",
  });
  await post(url, body, { ...headers, authorization: "Basic eDp5" });
  expect(first).toMatchObject({ status: 200, text: '{"jsonrpc":"2.0","id":1,"result":{}}' });
  expect(first.headers["mcp-session-id"]).toBeUndefined();
  expect(opened).toEqual([true]);
  const { received } = sessions[0] ?? new Recorder();
  expect(received.map(({ message, exchange }) => [message.text, exchange.era])).toEqual(
    Array(3).fill([body, "new"]),
  );
  expect(received.map(({ exchange }) => exchange.credentials)).toEqual([
    ["one", "two"],
    ["four", "three"],
    [],
  ]);
  expect(received[0]?.exchange.headers).toEqual({ "mcp-param-x": "y" });
});

test.each([
  ["no version", { "mcp-method": "tools/call", "mcp-name": "a" }],
  [
    "another version",
    {
      ...MODERN,
      "mcp-protocol-version": "2026-07-29",
      "mcp-method": "tools/call",
      "mcp-name": "a",
    },
  ],
  ["no method", { ...MODERN, "mcp-name": "a" }],
  ["another method", { ...MODERN, "mcp-method": "tools/list", "mcp-name": "a" }],
  ["a method in capitals", { ...MODERN, "mcp-method": "Tools/Call", "mcp-name": "a" }],
  ["no name", { ...MODERN, "mcp-method": "tools/call" }],
  ["another name", { ...MODERN, "mcp-method": "tools/call", "mcp-name": "b" }],
  ["a name in bad base64", { ...MODERN, "mcp-method": "tools/call", "mcp-name": "=?base64?YQ?=" }],
  ["two names", { ...MODERN, "mcp-method": "tools/call", "mcp-name": "a, b" }],
] satisfies [string, Headers][])(
  "a request whose headers have %s is refused as a header mismatch",
  async (_, headers) => {
    const { url, sessions } = await served();
    const reply = await post(url, modern(7, "tools/call", { name: "a" }), headers);
    expect([reply.status, codeOf(reply), JSON.parse(reply.text).id]).toEqual([400, -32020, 7]);
    expect(sessions).toHaveLength(0);
  },
);

test.each([
  ["a name in base64", "=?base64?YQ==?="],
  ["spaces around the name", "  a  "],
])("a request whose headers have %s is accepted", async (_, name) => {
  const { url } = await served();
  const headers = { ...MODERN, "mcp-method": "tools/call", "mcp-name": name };
  expect((await post(url, modern(1, "tools/call", { name: "a" }), headers)).status).toBe(200);
});

test.each([
  ["a body that is not JSON", "{", {}, 400, -32700],
  ["an empty body", "", {}, 400, -32700],
  ["a batch", `[${call(1, "ping")}]`, {}, 400, -32600],
  ["a method twice", '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', {}, 400, -32600],
  ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), {}, 400, -32700],
  ["the type text/plain", "{}", { "content-type": "text/plain" }, 415, -32600],
  ["another charset", "{}", { "content-type": "application/json; charset=utf-16" }, 400, -32600],
  ["a compressed body", "{}", { "content-encoding": "gzip" }, 400, -32600],
  ["more bytes than the limit", `"${"x".repeat(5000)}"`, {}, 413, -32600],
  [
    "an Accept header without text/event-stream",
    call(1, "initialize"),
    { accept: "application/json" },
    406,
    -32600,
  ],
  [
    "two tokens without a comma",
    call(1, "initialize"),
    { "proviso-capability": "a b" },
    400,
    -32600,
  ],
  ["an empty token", call(1, "initialize"), { "proviso-capability": "a,,b" }, 400, -32600],
  ["two bearer tokens", call(1, "initialize"), { authorization: "Bearer a b" }, 400, -32600],
  ["no session id", call(1, "ping"), {}, 400, -32600],
  ["an unknown session id", call(1, "ping"), { "mcp-session-id": "x" }, 404, -32600],
  ["an answer without a session id", '{"jsonrpc":"2.0","id":1,"result":{}}', {}, 400, -32600],
  [
    "an unknown version",
    call(1, "initialize"),
    { "mcp-protocol-version": "1999-01-01" },
    400,
    -32600,
  ],
  ["initialize and a version of the new era", call(1, "initialize"), MODERN, 400, -32020],
  ["a version of the new era and no _meta", call(1, "tools/list"), MODERN, 400, -32602],
  [
    "no client capabilities",
    call(1, "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }),
    { ...MODERN, "mcp-method": "tools/list" },
    400,
    -32602,
  ],
] satisfies [string, string | Buffer, Headers, number, number][])(
  "a POST with %s is refused, and no session gets it",
  async (_, body, headers, status, code) => {
    const { url, sessions } = await served({ bytes: 1000 });
    const reply = await post(url, body, headers);
    expect([reply.status, codeOf(reply)]).toEqual([status, code]);
    expect(sessions).toHaveLength(0);
  },
);

test.each([
  [{ origin: "https://evil.example" }, 403],
  [{ origin: "null" }, 403],
  [{ origin: "http://localhost.evil.example" }, 403],
  [{ host: "evil.example" }, 403],
  [{ host: "127.0.0.1.evil.example" }, 403],
  [{ host: "evil.example@localhost" }, 403],
  [{ host: "localhost/.evil.example" }, 403],
  [{ host: "evil.example", origin: "http://localhost:1" }, 403],
  [{ origin: "http://localhost:6274" }, 200],
  [{ origin: "https://app.example" }, 200],
  [{ host: "gate.example:99" }, 200],
  [{ host: "localhost:1" }, 200],
  [{ host: "[::1]:1" }, 200],
] satisfies [Headers, number][])(
  "a request with the header %o is answered with HTTP %i",
  async (headers, status) => {
    const { url, sessions } = await served({
      allowedOrigins: ["https://app.example"],
      allowedHosts: ["gate.example"],
    });
    const body = modern(1, "ping");
    const reply = await post(url, body, { ...MODERN, "mcp-method": "ping", ...headers });
    expect(reply.status).toBe(status);
    expect(sessions).toHaveLength(status === 200 ? 1 : 0);
    for (const method of ["GET", "DELETE", "OPTIONS"]) {
      const got = await ask(url, method, { accept: "text/event-stream", ...headers });
      expect(got.status === 403).toBe(status === 403);
    }
  },
);

test("protocol errors of the new era get HTTP status 400 or 404, and all other errors get 200", async () => {
  const { url, sessions } = await served();
  const session = await initialized(url);
  await post(url, modern(1, "ping"), { ...MODERN, "mcp-method": "ping" });
  for (const [code, status] of [
    [-32601, 404],
    [-32020, 400],
    [-32021, 400],
    [-32022, 400],
    [-32602, 200],
    [1, 200],
  ]) {
    for (const one of sessions) {
      one.onReceive = async ({ id }, { send }) =>
        send(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "" } }));
    }
    const reply = await post(url, modern(1, "x"), { ...MODERN, "mcp-method": "x" });
    expect([reply.status, codeOf(reply)]).toEqual([status, code]);
    expect((await post(url, call(2, "x"), session)).status).toBe(200);
  }
});

test("messages before the response are sent as events, and messages after it are dropped", async () => {
  const { url, sessions } = await served();
  const session = await initialized(url);
  const text = '{\n"jsonrpc":"2.0","id":2,"result":{"s":"\u2028"}}';
  const [own] = sessions;
  if (own === undefined) throw new Error("no session");
  own.onReceive = async (_, { send }) => {
    await send('{"jsonrpc":"2.0","method":"notifications/progress"}');
    await send(text);
    await send('{"jsonrpc":"2.0","method":"late"}');
  };
  const reply = await post(url, call(2, "tools/call"), session);
  expect(reply.headers).toMatchObject({
    "content-type": "text/event-stream",
    "x-accel-buffering": "no",
  });
  expect(reply.text).toBe(
    'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n' +
      'data: { "jsonrpc":"2.0","id":2,"result":{"s":"\\u2028"}}\n\n',
  );
  own.onReceive = async (_, { send }) => send(text);
  // A response without other messages is sent as the exact text, not as an event.
  expect((await post(url, call(3, "tools/call"), session)).text).toBe(text);
});

test("a request without an answer for five seconds gets an event stream", async () => {
  const { url, sessions } = await served();
  const session = await initialized(url);
  const streamIsOpen = deferred();
  for (const one of sessions) {
    one.onReceive = async ({ id }, { send }) => {
      const answer = JSON.stringify({ jsonrpc: "2.0", id, result: {} });
      void streamIsOpen.promise.then(() => send(answer));
    };
  }
  const began = Date.now();
  const res = await open(url, "POST", { ...POST, ...session }, call(2, "slow"));
  expect(Date.now() - began).toBeGreaterThan(4900);
  streamIsOpen.resolve();
  let text = "";
  for await (const chunk of res) text += chunk;
  expect(text).toBe('data: {"jsonrpc":"2.0","id":2,"result":{}}\n\n');
});

test("a client that disconnects aborts its own request, and its session stays open, in both eras", async () => {
  const { url, sessions } = await served();
  const session = await initialized(url);
  await post(url, modern(1, "ping"), { ...MODERN, "mcp-method": "ping" });
  for (const [body, headers, at] of [
    [modern(2, "x"), { ...MODERN, "mcp-method": "x" }, 1],
    [call(2, "x"), session, 0],
  ] as const) {
    const one = sessions[at];
    if (one === undefined) throw new Error("no session");
    one.onReceive = async () => {};
    const sent = requestHttp(url, { method: "POST", headers: { ...POST, ...headers } });
    sent.on("error", () => {});
    sent.end(body);
    await expect.poll(() => one.received.length).toBe(2);
    expect(one.received[1]?.exchange.signal.aborted).toBe(false);
    sent.destroy();
    await expect.poll(() => one.received[1]?.exchange.signal.aborted).toBe(true);
    expect(one.isClosed).toBe(false);
  }
});

test("a session of the old era has its own servers and its own stream, and ends with DELETE", async () => {
  const { url, sessions, opened } = await served();
  const [first, second] = [await initialized(url), await initialized(url)];
  expect(opened).toEqual([false, false]);
  expect(first["mcp-session-id"]).toMatch(/^[A-Za-z0-9_-]{24}$/);
  const notice = (text: string): string => JSON.stringify({ jsonrpc: "2.0", method: text });
  expect(await post(url, notice("notifications/initialized"), second)).toMatchObject({
    status: 202,
    text: "",
  });
  expect(sessions.map(({ received }) => received.length)).toEqual([1, 2]);
  // A message that the server sends before the stream is open is sent when the stream opens.
  await sessions[1]?.toHost(notice("early"));
  const stream = await open(url, "GET", { accept: "text/event-stream", ...second });
  let heard = "";
  stream.on("data", (chunk) => (heard += chunk));
  await sessions[1]?.toHost(notice("late"));
  await sessions[0]?.toHost(notice("other"));
  await sessions[1]?.toHost(notice("last"));
  const events = ["early", "late", "last"].map((text) => `data: ${notice(text)}\n\n`);
  await expect.poll(() => heard).toBe(events.join(""));
  const ended = once(stream, "end");
  expect((await ask(url, "DELETE", second)).status).toBe(204);
  await ended;
  expect(sessions.map(({ isClosed }) => isClosed)).toEqual([false, true]);
  for (const reply of [
    await post(url, call(2, "ping"), second),
    await ask(url, "GET", { accept: "text/event-stream", ...second }),
    await ask(url, "DELETE", second),
  ]) {
    expect(reply.status).toBe(404);
  }
  expect((await post(url, call(2, "ping"), first)).status).toBe(200);
});

test("GET and DELETE without a session are refused, and other methods get 405", async () => {
  const { url } = await served();
  expect((await ask(url, "GET", { accept: "text/event-stream" })).status).toBe(405);
  expect((await ask(url, "GET", { accept: "application/json" })).status).toBe(406);
  expect((await ask(url, "DELETE", {})).status).toBe(400);
  for (const method of ["PUT", "PATCH", "OPTIONS", "HEAD"]) {
    expect((await ask(url, method, { accept: "text/event-stream" })).status).toBe(405);
  }
});

test("an initialize that the server answers with an error leaves no session open", async () => {
  const { url, sessions } = await served({
    open: async () => {
      const session = new Recorder();
      sessions.push(session);
      session.onReceive = async ({ id }, { send }) =>
        send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: 1, message: "no" } }));
      return { session, ended: never };
    },
  });
  const reply = await post(url, call(1, "initialize"));
  expect([reply.status, reply.headers["mcp-session-id"]]).toEqual([200, undefined]);
  await expect.poll(() => sessions[0]?.isClosed).toBe(true);
});

test("an initialize of a client that may not open a session starts no session, and its answer gives the reason", async () => {
  const text = '{"jsonrpc":"2.0","id":1,"error":{"code":-31403,"message":"why"}}';
  const { url, sessions } = await served({
    opening: async ({ method }, credentials) =>
      method === "initialize" && credentials.includes("good")
        ? { opener: "alice", credentials }
        : { refusal: text },
  });
  const strangers: readonly Headers[] = [{}, { "proviso-capability": "bad" }];
  for (const headers of strangers) {
    const reply = await post(url, call(1, "initialize"), headers);
    expect([reply.status, reply.text]).toEqual([200, text]);
    expect(reply.headers["mcp-session-id"]).toBeUndefined();
  }
  expect(sessions).toHaveLength(0);
  const reply = await post(url, call(1, "initialize"), { "proviso-capability": "good" });
  const id = String(reply.headers["mcp-session-id"]);
  // Later requests of the session are not judged by `opening`.
  const session = { "mcp-session-id": id, "proviso-capability": "good" };
  expect((await post(url, call(2, "ping"), session)).status).toBe(200);
  expect((await post(url, modern(3, "ping"), { ...MODERN, "mcp-method": "ping" })).status).toBe(
    200,
  );
});

test.each([
  ["leaves too much unread", { unread: 4_000_000 }],
  ["stops reading for too long", { stall: 300 }],
])("a client that %s is disconnected, and other clients are not", async (_, limits) => {
  const { url, sessions } = await served(limits);
  const ping = { ...MODERN, "mcp-method": "ping" };
  await post(url, modern(1, "ping"), ping);
  const [shared] = sessions;
  if (shared === undefined) throw new Error("no session");
  const { onReceive } = shared;
  const text = JSON.stringify({ jsonrpc: "2.0", method: "m", params: "x".repeat(1_000_000) });
  shared.onReceive = async (message, exchange) => {
    // More bytes than the buffers of the connection hold.
    for (let sent = 0; sent < 20; sent++) {
      await exchange.send(text);
      if (message.id === 3) await sleep(20);
    }
    await onReceive(message, exchange);
  };
  const slow = await open(url, "POST", { ...POST, ...ping }, modern(2, "ping"));
  const [, first] = shared.received;
  if (first === undefined) throw new Error("no request");
  if (!first.exchange.signal.aborted) await once(first.exchange.signal, "abort");
  const ended = once(slow, "error");
  slow.resume();
  await ended;
  // Repeated, since a pause of this process looks as if this client had stopped reading.
  await expect
    .poll(async () => (await post(url, modern(3, "ping"), ping)).text)
    .toContain(`{"jsonrpc":"2.0","id":3,"result":{}}`);
});

test("a request whose server does not start gets 503 without the cause, and the next request starts the server again", async () => {
  let tries = 0;
  const { url } = await served({
    open: async () => {
      tries++;
      throw new Error("secret");
    },
  });
  for (const body of [call(1, "initialize"), modern(1, "ping"), modern(2, "ping")]) {
    const headers = body.includes("_meta") ? { ...MODERN, "mcp-method": "ping" } : {};
    const reply = await post(url, body, headers);
    expect([reply.status, codeOf(reply)]).toEqual([503, -32603]);
    expect(reply.text).not.toContain("secret");
  }
  expect(tries).toBe(3);
});

test("closing the front answers pending requests, ends streams, and closes every session", async () => {
  const { front, url, sessions } = await served({ grace: 600_000 });
  const session = await initialized(url);
  const stream = await open(url, "GET", { accept: "text/event-stream", ...session });
  const [own] = sessions;
  if (own === undefined) throw new Error("no session");
  const streamHasEnded = deferred();
  own.onReceive = async ({ id }, { send }) => {
    const answer = JSON.stringify({ jsonrpc: "2.0", id, result: {} });
    void streamHasEnded.promise.then(() => send(answer));
  };
  const pending = post(url, call(5, "slow"), session);
  await expect.poll(() => own.received.length).toBe(2);
  const closed = front.close();
  stream.resume();
  await once(stream, "end");
  streamHasEnded.resolve();
  expect((await pending).status).toBe(200);
  await closed;
  expect(sessions.every(({ isClosed }) => isClosed)).toBe(true);
});

test("closing the front cuts off requests that do not end within the grace time", async () => {
  const { front, url, sessions } = await served({ grace: 100 });
  const session = await initialized(url);
  for (const one of sessions) one.onReceive = async () => {};
  const pending = post(url, call(5, "hang"), session).catch(() => undefined);
  await expect.poll(() => sessions[0]?.received.length).toBe(2);
  await front.close();
  await pending;
  expect(sessions[0]?.isClosed).toBe(true);
});
