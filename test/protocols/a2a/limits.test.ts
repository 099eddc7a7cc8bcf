import { connect } from "node:net";
import { promisify } from "node:util";
import { brotliCompress, gzip, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { withCapability } from "../../../src/protocols/a2a/client/index.js";
import { ERROR_CODES, ERROR_DOMAIN } from "../../../src/protocols/a2a/index.js";
import { CALLERS, startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  type Answer,
  at,
  authorized,
  BINDINGS,
  type BindingName,
  callOf,
  clientOf,
  quietConsole,
  request,
  rpc,
  send,
  taskIn,
  textAt,
} from "./callers.js";
import { userMessage } from "./set-up.js";

let agent: TestAgent;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({ body: { bytes: 20_000, depth: 12 }, timeout: 300 });
});

afterAll(() => agent.remove());

/** Posts a body unchanged to the URL to which a binding's messages go. */
function post(
  binding: BindingName,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { rpcUrl, restUrl } = agent.server;
  const url = binding === "JSON-RPC" ? rpcUrl : `${restUrl}/message:send`;
  return send(url, {
    method: "POST",
    headers: { ...authorized("alice"), ...headers },
    body,
  });
}

/** Returns the body of a message in the format of a binding. */
function messageFor(binding: BindingName, data: Json): string {
  const params = { message: userMessage([{ data }]) };
  if (binding === "HTTP+JSON") return JSON.stringify(params);
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
}

/** Expects an error in the format of a binding. */
function expectFault(
  binding: BindingName,
  { status, headers, body }: Answer,
  { http, code, reason }: { readonly http: number; readonly code: number; readonly reason: string },
): void {
  const info = { reason, domain: ERROR_DOMAIN };
  if (binding === "HTTP+JSON") {
    expect(status).toBe(http);
    expect(headers.get("content-type")).toContain("application/a2a+json");
    expect(body).toMatchObject({
      error: {
        code: http,
        status: expect.stringMatching(/^[A-Z_]+$/),
        message: expect.any(String),
        details: [info],
      },
    });
    return;
  }
  expect(status).toBe([413, 429].includes(http) ? http : 200);
  expect(headers.get("content-type")).toContain("application/json");
  expect(body).toMatchObject({
    jsonrpc: "2.0",
    error: { code, message: expect.any(String), data: [info] },
  });
}

const TOO_LARGE = { http: 413, code: ERROR_CODES.tooLarge, reason: "too_large" };
const PACKED = { http: 400, code: -32600, reason: "invalid_request" };
const TOO_DEEP = { http: 400, code: -32600, reason: "too_deep" };
const NO_JSON = { http: 400, code: -32700, reason: "parse_error" };

function nested(depth: number): Json {
  let value: Json = 1;
  for (let deep = 0; deep < depth; deep++) value = [value];
  return value;
}

describe.each(BINDINGS)("a request body sent over %s", (binding) => {
  test("that is too large is refused", async () => {
    expectFault(binding, await post(binding, messageFor(binding, "x".repeat(20_000))), TOO_LARGE);
  });

  test("that is large, but within the limit, is accepted", async () => {
    const answer = await post(binding, messageFor(binding, "x".repeat(19_000)));
    expect(answer.text).toContain("capability_missing");
  });

  test("that is compressed is refused, and is not decompressed", async () => {
    const bomb = messageFor(binding, "x".repeat(30_000_000));
    for (const [encoding, packed] of [
      // Compress asynchronously: if the event loop were blocked, idle connections would time out.
      ["gzip", await promisify(gzip)(bomb)],
      ["br", await promisify(brotliCompress)(bomb, { params: { 1: 4 } })],
    ] as const) {
      const body = new Uint8Array(packed);
      expect(body.length).toBeLessThan(35_000);
      const before = process.memoryUsage().rss;
      const answer = await post(binding, body, { "Content-Encoding": encoding });
      expectFault(binding, answer, PACKED);
      expect(process.memoryUsage().rss - before).toBeLessThan(20_000_000);
    }
    const packed = new Uint8Array(gzipSync(messageFor(binding, "x")));
    expectFault(binding, await post(binding, packed, { "Content-Encoding": "gzip" }), PACKED);
  });

  test("that is nested too deep is refused", async () => {
    expectFault(binding, await post(binding, messageFor(binding, nested(12))), TOO_DEEP);
    const answer = await post(binding, messageFor(binding, nested(4)));
    expect(answer.text).toContain("capability_missing");
    // The most deeply nested body that fits the size limit. The server must refuse it without recursion.
    const deep = `{"a":${"[".repeat(9_900)}${"]".repeat(9_900)}}`;
    expectFault(binding, await post(binding, deep), TOO_DEEP);
  });

  test("that is a JSON string with JSON inside is refused", async () => {
    // If a JSON body is a string, the SDK parses that string once more.
    const answer = await post(binding, JSON.stringify(messageFor(binding, nested(30))));
    expectFault(binding, answer, { http: 400, code: -32600, reason: "invalid_request" });
  });

  test("that is not JSON is refused", async () => {
    for (const body of ["", "{", "{'a':1}", "\u0000", '{"a":1}}', "[1,]"]) {
      const answer = await post(binding, body);
      if (body === "") expect(at(answer.body, "error")).not.toBeNull();
      else expectFault(binding, answer, NO_JSON);
    }
  });

  test("with an unsupported content type, charset or encoding is refused", async () => {
    const body = messageFor(binding, "x");
    for (const headers of [
      { "Content-Type": "text/plain" },
      { "Content-Type": "application/x-www-form-urlencoded" },
      { "Content-Type": "application/json; charset=latin1" },
      { "Content-Encoding": "compress" },
    ] as Record<string, string>[]) {
      const answer = await post(binding, body, headers);
      expect(at(answer.body, "error")).not.toBeNull();
      expect(answer.text).not.toContain("capability_missing");
      expect(answer.status).toBeLessThan(500);
    }
  });
});

test.each(BINDINGS)(
  "a skill that exceeds its time limit fails its task (over %s)",
  async (binding) => {
    const alice = await clientOf(agent, binding, "alice");
    const { token } = await request(alice, { grants: ["work:do"] });
    const holder = await withCapability(alice, token);
    const began = performance.now();
    const task = taskIn(await holder.sendMessage(callOf("wait", { milliseconds: 20_000 })));
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(task.status?.state).toBe(4);
    expect(JSON.stringify(task.status)).toContain("too long");
  },
);

test("a2a/skill/invoke answers timed_out if the skill exceeds its time limit", async () => {
  const { body } = await rpc(agent, "alice", "a2a/capabilities/request", { grants: ["work:do"] });
  const token = textAt(body, "result", "capabilities", 0, "token");
  const call = { skill: "wait", arguments: { milliseconds: 20_000 }, token };
  expect((await rpc(agent, "alice", "a2a/skill/invoke", call)).body).toMatchObject({
    error: { code: ERROR_CODES.timedOut, data: [{ reason: "timed_out", domain: ERROR_DOMAIN }] },
  });
});

test("a caller that calls too often gets 429, and other callers do not", async () => {
  const own = await startAgent({ rate: { requests: 5, seconds: 3600 } });
  try {
    const card = () => rpc(own, "alice", "a2a/capabilities/introspect", { token: "x" });
    for (let call = 0; call < 5; call++) expect((await card()).status).toBe(200);
    const refused = await card();
    expectFault("JSON-RPC", refused, {
      http: 429,
      code: ERROR_CODES.rateLimited,
      reason: "rate_limited",
    });
    // The body of a rate-limited request is not read.
    expect(at(refused.body, "id")).toBeNull();
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3000);
    // Requests over both bindings share one limit. Other callers have their own limits, even alice through
    // another agent.
    const rest = await send(`${own.server.restUrl}/tasks`, { headers: authorized("alice") });
    expectFault("HTTP+JSON", rest, {
      http: 429,
      code: ERROR_CODES.rateLimited,
      reason: "rate_limited",
    });
    for (const who of ["bob", "calendar"] as const) {
      const answer = await rpc(own, who, "a2a/capabilities/introspect", { token: "x" });
      expect(answer.status).toBe(200);
    }
  } finally {
    await own.remove();
  }
});

test("a caller that called too often can call again when the seconds of the limit are over", async () => {
  const own = await startAgent({ rate: { requests: 5, seconds: 1 } });
  try {
    const statuses = (calls: number) =>
      Promise.all(
        Array.from({ length: calls }, async () => {
          const params = { token: "x" };
          return (await rpc(own, "alice", "a2a/capabilities/introspect", params)).status;
        }),
      );
    await expect.poll(() => statuses(6)).toContain(429);
    await expect.poll(() => statuses(1)).toEqual([200]);
  } finally {
    await own.remove();
  }
});

test("50 connections that never finish their headers do not delay another caller", async () => {
  const { port, hostname } = new URL(agent.server.url);
  const sockets = Array.from({ length: 50 }, () => connect(Number(port), hostname));
  try {
    for (const socket of sockets) {
      socket.on("error", () => {});
      socket.write(
        `POST /a2a/jsonrpc HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${CALLERS.bob}\r\n`,
      );
    }
    const began = performance.now();
    expect((await rpc(agent, "alice", "a2a/capabilities/introspect", { token: "x" })).status).toBe(
      200,
    );
    // Sooner than the server gives up waiting for headers.
    expect(performance.now() - began).toBeLessThan(8000);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
