import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { afterEach, expect, test } from "vitest";
import type { ServerEnd } from "../../../../src/protocols/mcp/server/connection.js";
import {
  type HttpServerOptions,
  openHttpServer,
} from "../../../../src/protocols/mcp/server/http-server.js";
import { httpServer, rawServer } from "../../../support/loopback-servers.js";
import { clientOf, serveModern, startEverything } from "../support.js";

const stops: (() => unknown)[] = [];

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** Opens a connection, and records the messages that it passes on. */
function connected(url: string | URL, options: Partial<HttpServerOptions> = {}) {
  const server = openHttpServer({ url: new URL(url), ...options });
  stops.push(() => server.close());
  const messages: { readonly text: string; readonly forRequest?: string | number | undefined }[] =
    [];
  const ends: ServerEnd[] = [];
  server.onMessage = async (text, { forRequest }) => void messages.push({ text, forRequest });
  server.onEnd = (end) => void ends.push(end);
  return { server, messages, ends };
}

async function until<T>(find: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 800; tries++) {
    const found = find();
    if (found !== undefined) return found;
    await sleep(10);
  }
  throw new Error("it did not happen in time");
}

const request = (id: number, method = "tools/call", params = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

const notification = (method: string): string => JSON.stringify({ jsonrpc: "2.0", method });

const modern = (id: number, method: string, params: object): string =>
  request(id, method, {
    ...params,
    _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
  });

const answered = (id: number): string => JSON.stringify({ jsonrpc: "2.0", id, result: {} });

async function bodyOf(req: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of req) body += chunk;
  return body;
}

/** Starts an event stream. Returns a function that sends an event. */
function events(res: ServerResponse): (text: string, id?: string) => void {
  res.writeHead(200, { "Content-Type": "text/event-stream" });
  return (text, id) => res.write(`${id === undefined ? "" : `id: ${id}\n`}data: ${text}\n\n`);
}

const opened: RequestListener = (_, res) => {
  const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {} };
  const headers = { "Content-Type": "application/json", "Mcp-Session-Id": "s-1" };
  res.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
};

test("an HTTP connection carries calls, progress, logs and server requests of a published server of 2025-11-25", async () => {
  const { url, process: child } = await startEverything();
  stops.push(() => child.kill());
  const server = openHttpServer({ url });
  const { transport, close } = clientOf(server);
  stops.push(close);
  const client = new Client(
    { name: "t", version: "1" },
    { capabilities: { sampling: {}, elicitation: { form: {} } } },
  );
  client.setRequestHandler("sampling/createMessage", async () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "sampled é🙂" },
  }));
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("get-sum");
  const sum = await client.callTool({ name: "get-sum", arguments: { a: 2, b: 3 } });
  expect(JSON.stringify(sum.content)).toContain("5");
  const progress: number[] = [];
  const long = { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } };
  await client.callTool(long, { onprogress: ({ progress: one }) => void progress.push(one) });
  expect(progress).toEqual([1, 2, 3]);
  const asked = { name: "trigger-sampling-request", arguments: { prompt: "x", maxTokens: 5 } };
  expect(JSON.stringify((await client.callTool(asked)).content)).toContain("sampled é🙂");
  // Messages that belong to no request arrive on a stream of their own.
  const changed = new Promise((resolve) => {
    client.setNotificationHandler("notifications/message", resolve);
  });
  await client.callTool({ name: "toggle-simulated-logging", arguments: {} });
  await changed;
});

test("an HTTP connection sends a server of 2026-07-28 the headers that the server requires", async () => {
  const url = await serveModern(() => {
    const made = new McpServer({ name: "m", version: "1" }, { capabilities: { tools: {} } });
    const properties = {
      region: { type: "string", "x-mcp-header": "Region" },
      zone: { type: "integer", "x-mcp-header": "Zone" },
    } as const;
    const inputSchema = fromJsonSchema<{ region: string }>({ type: "object", properties });
    made.registerTool("héllo", { inputSchema }, async ({ region }) => ({
      content: [{ type: "text", text: `in ${region}` }],
    }));
    return made;
  });
  const { transport, close } = clientOf(openHttpServer({ url }));
  stops.push(close);
  const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  expect(client.getProtocolEra()).toBe("modern");
  expect((await client.listTools()).tools).toHaveLength(1);
  for (const region of ["us-west1", " Ünïcode\n", "=?base64?eA==?="]) {
    const { content } = await client.callTool({ name: "héllo", arguments: { region, zone: 4 } });
    expect(content).toEqual([{ type: "text", text: `in ${region}` }]);
  }
});

test("a call whose Mcp-Param headers do not agree with the arguments is refused, and is not sent", async () => {
  const calls: IncomingMessage[] = [];
  const schema = { properties: { a: { properties: { b: { "x-mcp-header": "B" } } } } };
  const { url } = await httpServer(async (req, res) => {
    const { id, method } = JSON.parse(await bodyOf(req));
    if (method === "tools/call") calls.push(req);
    const result = { tools: [{ name: "t", inputSchema: schema }] };
    res.setHeader("Content-Type", "application/json");
    res.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const { server, messages } = connected(url);
  await server.send(modern(1, "tools/list", {}), { era: "new" });
  await until(() => messages[0]);
  const call = async (id: number, headers: Record<string, string> | undefined, b: unknown) => {
    const text = modern(id, "tools/call", { name: "t", arguments: { a: { b } } });
    await server.send(text, { era: "new", headers });
    const { text: answer } = await until(() =>
      messages.find(({ forRequest }) => forRequest === id),
    );
    return JSON.parse(answer).error?.code;
  };
  const extra = { "mcp-param-other": "x" };
  expect(await call(2, { "mcp-param-b": "é" }, "x")).toBe(-32020);
  expect(await call(3, { "mcp-param-b": "y" }, "x")).toBe(-32020);
  expect(await call(4, {}, "x")).toBe(-32020);
  expect(await call(5, { "mcp-param-b": "x" }, null)).toBe(-32020);
  expect(await call(6, { "mcp-param-b": "42" }, "42.0")).toBe(-32020);
  expect(calls).toHaveLength(0);
  expect(await call(7, { ...extra, "mcp-param-b": "=?base64?eA==?=" }, "x")).toBeUndefined();
  expect(await call(8, { "mcp-param-b": "42.0" }, 42)).toBeUndefined();
  expect(await call(9, {}, null)).toBeUndefined();
  expect(await call(10, undefined, true)).toBeUndefined();
  const sent = calls.map(({ headers }) => [headers["mcp-param-b"], headers["mcp-param-other"]]);
  expect(sent).toEqual([
    ["=?base64?eA==?=", "x"],
    ["42.0", undefined],
    [undefined, undefined],
    ["true", undefined],
  ]);
  expect(calls[0]?.headers).toMatchObject({
    "mcp-method": "tools/call",
    "mcp-name": "t",
    "mcp-protocol-version": "2026-07-28",
  });
});

test("an HTTP request has only the headers that HTTP and MCP need, and those of the configuration", async () => {
  const { url, requests } = await httpServer((_, res) => void res.writeHead(202).end());
  const { server } = connected(url, { headers: { authorization: "Bearer upstream" } });
  await server.send(notification("notifications/x"), { headers: { "mcp-param-a": "b" } });
  expect(Object.keys(requests[0]?.headers ?? {}).sort()).toEqual([
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
  ]);
  expect(requests[0]?.headers.authorization).toBe("Bearer upstream");
});

test("the events of an HTTP stream are delivered when they arrive, in order, and one at a time", async () => {
  let go: () => void = () => {};
  const { url } = await httpServer(async (_, res) => {
    const send = events(res);
    send(notification("a"));
    await new Promise<void>((resolve) => (go = resolve));
    res.write(
      `: keep-alive\r\n\r\nevent: other\ndata: no\n\ndata: {"jsonrpc":"2.0",\ndata: "method":"é"}\n\n`,
    );
    for (const byte of Buffer.from(`data: ${answered(1)}\n\n`)) res.write(Buffer.from([byte]));
    res.end();
  });
  const { server, messages } = connected(url);
  let busy = 0;
  server.onMessage = async (text) => {
    expect(busy++).toBe(0);
    await sleep(20);
    messages.push({ text });
    busy--;
  };
  await server.send(request(1));
  await until(() => messages[0]);
  go();
  await until(() => messages[2]);
  expect(messages.map(({ text }) => text)).toEqual([
    notification("a"),
    '{"jsonrpc":"2.0",\n"method":"é"}',
    answered(1),
  ]);
});

test.each([
  ["HTTP 500", (_, res) => void res.writeHead(500).end("x"), "server_unavailable"],
  ["HTTP 401", (_, res) => void res.writeHead(401).end(), "server_unavailable"],
  ["a connection that breaks", (req) => void req.socket.destroy(), "server_unavailable"],
  [
    "an answer that breaks off",
    (_, res) => {
      res.writeHead(200, { "Content-Type": "application/json", "Content-Length": "99" });
      res.write("{", () => res.destroy());
    },
    "server_unreadable",
  ],
  [
    "an answer that is not JSON",
    (_, res) => void res.setHeader("Content-Type", "application/json").end("x"),
    "server_unreadable",
  ],
  [
    "an answer in HTML",
    (_, res) => void res.setHeader("Content-Type", "text/html").end("<p>"),
    "server_unreadable",
  ],
  ["an answer without a body", (_, res) => void res.writeHead(202).end(), "server_unreadable"],
  [
    "the answer to another request",
    (_, res) => void res.setHeader("Content-Type", "application/json").end(answered(77)),
    "server_unreadable",
  ],
  [
    "a batch",
    (_, res) => void res.setHeader("Content-Type", "application/json").end(`[${answered(1)}]`),
    "server_unreadable",
  ],
  [
    "a stream without the response",
    (_, res) => {
      events(res)(notification("a"));
      res.end();
    },
    "server_unreadable",
  ],
  [
    "an answer that is not UTF-8",
    (_, res) => {
      res.setHeader("Content-Type", "application/json");
      res.end(Buffer.from([0x22, 0xff, 0x22]));
    },
    "server_unreadable",
  ],
  [
    "a compressed answer",
    (_, res) => {
      res.setHeader("Content-Encoding", "gzip").setHeader("Content-Type", "application/json");
      res.end("x");
    },
    "server_unreadable",
  ],
  [
    "a JSON answer over the size limit",
    (_, res) => {
      res.setHeader("Content-Type", "application/json");
      res.end(" ".repeat(3000) + answered(1));
    },
    "server_unreadable",
  ],
  [
    "an event over the size limit",
    (_, res) => {
      events(res)("x".repeat(3000));
    },
    "server_unreadable",
  ],
  [
    "an event that does not end",
    (_, res) => {
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      const timer = setInterval(() => res.write("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"), 1);
      res.on("close", () => clearInterval(timer));
    },
    "server_unreadable",
  ],
] satisfies [string, RequestListener, string][])(
  "over HTTP, %s fails only its own request, which is not sent again",
  async (_, answer, code) => {
    const { url, requests } = await httpServer(answer);
    const { server, messages, ends } = connected(url, { bytes: 2000 });
    await server.send(request(1));
    const { text, forRequest } = await until(() =>
      messages.find((one) => JSON.parse(one.text).error !== undefined),
    );
    const number = code === "server_unavailable" ? -31503 : -31502;
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { code: number, data: { code } } });
    expect(text).not.toContain("127.0.0.1");
    expect(forRequest).toBe(1);
    await sleep(30);
    expect(requests).toHaveLength(1);
    expect(ends).toEqual([]);
  },
);

test("an answer to initialize with a space in its session id is refused with this reason", async () => {
  const { url } = await httpServer((_, res) => {
    res.setHeader("Mcp-Session-Id", "s 1").setHeader("Content-Type", "application/json");
    res.end(answered(1));
  });
  const { server, messages } = connected(url);
  await server.send(request(1, "initialize"));
  const { text } = await until(() => messages[0]);
  expect(JSON.parse(text).error).toMatchObject({
    message: expect.stringContaining("its session id has characters that are not allowed in one"),
    data: { code: "server_unreadable" },
  });
});

test("a JSON answer is read as one message on several lines, or as one message on each line", async () => {
  let go: () => void = () => {};
  const { url } = await httpServer(async (req, res) => {
    const { id } = JSON.parse(await bodyOf(req));
    res.setHeader("Content-Type", "application/json; charset=utf-8");
    if (id === 1) return void res.end(`\n{\r\n "jsonrpc":"2.0",\n"id":1,"result":{}}\n`);
    res.write(`${notification("a")}\n`);
    await new Promise<void>((resolve) => (go = resolve));
    res.end(`${answered(2)}\n`);
  });
  const { server, messages } = connected(url);
  await server.send(request(1));
  await until(() => messages[0]);
  await server.send(request(2));
  await until(() => messages[1]);
  go();
  await until(() => messages[2]);
  expect(messages.map(({ text }) => JSON.parse(text).id)).toEqual([1, undefined, 2]);
});

test("a JSON-RPC error with HTTP status 400 is passed on with the id of its request", async () => {
  const error = { code: -32022, message: "no", data: { supported: ["2026-07-28"] } };
  const { url } = await httpServer(async (req, res) => {
    const { id } = JSON.parse(await bodyOf(req));
    const body = id === 1 ? { jsonrpc: "2.0", id, error } : { jsonrpc: "2.0", error };
    res.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  const { server, messages } = connected(url);
  for (const id of [1, 2]) await server.send(modern(id, "tools/list", {}), { era: "new" });
  await until(() => messages[1]);
  const ids = messages.map(({ text }) => JSON.parse(text)).map((one) => [one.id, one.error]);
  expect(ids.sort()).toEqual([
    [1, error],
    [2, error],
  ]);
});

test("send does not wait for a server that answers before it has read the whole request", async () => {
  const { url } = await rawServer((socket) => {
    socket.once("data", () => {
      socket.pause();
      socket.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
    });
  });
  const { server, messages } = connected(url);
  await server.send(request(1, "tools/call", { text: "x".repeat(20_000_000) }));
  expect(JSON.parse((await until(() => messages[0])).text).error.code).toBe(-31503);
});

test("a redirect is followed only within the origin, and only if it keeps the method", async () => {
  const other = await httpServer((_, res) => void res.end());
  const { url, requests } = await httpServer((req, res) => {
    const to = (status: number, location: string) => res.writeHead(status, { location }).end();
    if (req.url === "/mcp") to(307, "/mcp/");
    else if (req.url === "/mcp/")
      res.setHeader("Content-Type", "application/json").end(answered(1));
    else if (req.url === "/ring") to(308, "/ring");
    else if (req.url === "/get") to(303, "/mcp/");
    else to(307, `${other.url}/mcp/`);
  });
  const logged: string[] = [];
  const log = (line: string): void => void logged.push(line);
  const ask = async (path: string) => {
    const { server, messages } = connected(`${url}${path}`, { log });
    await server.send(request(1));
    return JSON.parse((await until(() => messages[0])).text);
  };
  expect(await ask("/mcp")).toMatchObject({ result: {} });
  expect(requests.map(({ method }) => method)).toEqual(["POST", "POST"]);
  for (const path of ["/ring", "/get", "/away"]) {
    expect(await ask(path)).toMatchObject({ error: { data: { code: "server_unavailable" } } });
  }
  expect(other.requests).toHaveLength(0);
  expect(logged.join()).toContain(other.url);
});

test("each message to an address where nothing listens fails with server_unavailable", async () => {
  const { server, messages } = connected("http://127.0.0.1:1/mcp");
  await server.send(request(1));
  const { text } = await until(() => messages[0]);
  expect(JSON.parse(text).error.message).toContain("ECONNREFUSED");
  await expect(server.send(notification("x"))).rejects.toMatchObject({
    code: "server_unavailable",
  });
});

test("every request after initialize has the session id, and close ends the session with DELETE", async () => {
  const { url, requests } = await httpServer((req, res) => {
    if (req.method !== "POST") res.writeHead(405).end();
    else if (req.headers["mcp-session-id"] === undefined) opened(req, res);
    else res.writeHead(202).end();
  });
  const { server, messages } = connected(url);
  await server.send(request(1, "initialize"));
  await until(() => messages[0]);
  await server.send(notification("notifications/initialized"));
  await until(() => requests.find(({ method }) => method === "GET"));
  await server.close();
  await until(() => requests.find(({ method }) => method === "DELETE"));
  expect(
    requests.map(({ method, headers }) => [
      method,
      headers["mcp-session-id"],
      headers["mcp-protocol-version"],
    ]),
  ).toEqual([
    ["POST", undefined, undefined],
    ["POST", "s-1", "2025-11-25"],
    ["GET", "s-1", "2025-11-25"],
    ["DELETE", "s-1", "2025-11-25"],
  ]);
});

test("a connection ends with server_ended when the server ends the session", async () => {
  let calls = 0;
  const { url } = await httpServer((req, res) => {
    if (++calls === 1) opened(req, res);
    else res.writeHead(404).end();
  });
  for (const ask of [request(2), notification("x")]) {
    calls = 0;
    const { server, messages, ends } = connected(url);
    await server.send(request(1, "initialize"));
    await until(() => messages[0]);
    await server.send(ask).catch(() => {});
    expect((await until(() => ends[0])).code).toBe("server_ended");
    await expect(server.send(request(3))).rejects.toMatchObject({ code: "server_ended" });
    expect(ends).toHaveLength(1);
  }
});

test("the stream of messages that belong to no request is resumed after its last event", async () => {
  const seen: (string | undefined)[] = [];
  const { url } = await httpServer((req, res) => {
    if (req.method === "POST" && seen.length === 0) {
      if (req.headers["mcp-session-id"] === undefined) return opened(req, res);
      return void res.writeHead(202).end();
    }
    seen.push(req.headers["last-event-id"]?.toString());
    const send = events(res);
    res.write("retry: 10\n");
    send(notification(`n${seen.length}`), `e${seen.length}`);
    if (seen.length < 3) res.end();
  });
  const { server, messages } = connected(url);
  await server.send(request(1, "initialize"));
  await until(() => messages[0]);
  await server.send(notification("notifications/initialized"));
  await until(() => messages[3]);
  expect(seen).toEqual([undefined, "e1", "e2"]);
  expect(
    messages.slice(1).map(({ text, forRequest }) => [JSON.parse(text).method, forRequest]),
  ).toEqual([
    ["n1", undefined],
    ["n2", undefined],
    ["n3", undefined],
  ]);
});

test("in the old era, an answer whose stream has ended is resumed, and the request is not sent again", async () => {
  const { url, requests } = await httpServer((req, res) => {
    const send = events(res);
    if (req.method === "POST") {
      res.write("retry: 10\n");
      send("", "e1");
    } else if (req.headers["last-event-id"] === "e1") send(notification("a"), "e2");
    else send(answered(1), "e3");
    res.end();
  });
  const { server, messages } = connected(url);
  await server.send(request(1));
  await until(() => messages[1]);
  expect(messages.map(({ text, forRequest }) => [text, forRequest])).toEqual([
    [notification("a"), 1],
    [answered(1), 1],
  ]);
  expect(requests.map(({ method }) => method)).toEqual(["POST", "GET", "GET"]);
  await server.send(modern(2, "tools/list", {}), { era: "new" });
  const { text } = await until(() => messages[2]);
  expect(JSON.parse(text).error.data.code).toBe("server_unreadable");
  expect(requests).toHaveLength(4);
});

test("aborting a request ends its HTTP exchange, and no further message arrives", async () => {
  let closed = 0;
  const { url } = await httpServer((_, res) => {
    events(res)(notification("a"));
    res.on("close", () => closed++);
  });
  const { server, messages } = connected(url);
  const stop = new AbortController();
  await server.send(modern(1, "tools/call", {}), { era: "new", signal: stop.signal });
  await until(() => messages[0]);
  stop.abort();
  await until(() => (closed === 1 ? true : undefined));
  await sleep(20);
  expect(messages).toHaveLength(1);
  // The end of the stream was the cancellation. Without a session, the notification is not sent.
  await server.send(notification("notifications/cancelled"));
});

test("aborting an answered request does not disturb the next request on the same socket", async () => {
  let second: (() => void) | undefined;
  const { url, requests } = await httpServer(async (req, res) => {
    const { id } = JSON.parse(await bodyOf(req));
    res.setHeader("Content-Type", "application/json");
    if (id === 1) res.end(answered(1));
    else second = () => void res.end(answered(2));
  });
  const { server, messages } = connected(url);
  const stop = new AbortController();
  await server.send(request(1), { signal: stop.signal });
  await until(() => messages[0]);
  await server.send(request(2));
  const answer = await until(() => second);
  expect(new Set(requests.map(({ socket }) => socket)).size).toBe(1);
  stop.abort();
  await sleep(20);
  answer();
  expect((await until(() => messages[1])).text).toBe(answered(2));
});

test("the connection closes a stream that the server keeps open after the response", async () => {
  let closed = 0;
  const { url } = await httpServer((_, res) => {
    events(res)(answered(1));
    res.on("close", () => closed++);
  });
  const { server } = connected(url);
  await server.send(request(1));
  await until(() => (closed === 1 ? true : undefined));
});
