import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import express, { type Request, type Response } from "express";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Authenticator } from "../../src/agent/caller.js";
import { createFixedTokens } from "../../src/auth/index.js";
import { contentType, jsonBody } from "../../src/http/body.js";
import { authentication, callerOf, rateLimiter } from "../../src/http/callers.js";
import type { FaultWriter } from "../../src/http/fault.js";
import { fallback } from "../../src/http/fault.js";
import { drain, listen, refuseWhileDraining } from "../../src/http/listen.js";
import { requestLog } from "../../src/http/log.js";
import { AgentMetrics } from "../../src/http/metrics.js";
import { alive, readiness, serveMetrics } from "../../src/http/status.js";
import { type Answer, send } from "../protocols/a2a/callers.js";

// A protocol with its own codes and headers, on top of src/http, which knows neither the codes nor the headers.

const TOKEN = "a-development-token";
const lines: object[] = [];
const failures: string[] = [];
let server: Server;
let url: string;
let draining = false;
let check = (): readonly string[] => [];

const answer: FaultWriter = (res, { status, reason, message, retryAfter }) => {
  res.setHeader("X-Reason", reason);
  res.status(status).json({ own: { reason, message, ...(retryAfter ? { retryAfter } : {}) } });
};
const onFailure = (error: unknown, what: string): void => {
  failures.push(`${what}: ${error}`);
};
/** The requests that the authenticator has received. */
const seen: string[] = [];
const tokens = createFixedTokens([{ token: TOKEN, principal: "alice", invoker: "assistant" }], {
  development: true,
  announce: () => {},
});
const authenticator: Authenticator = {
  authenticate: async (request) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.headers["authorization"] === "Bearer unreachable")
      throw new Error("the keys cannot be fetched");
    return tokens.authenticate(request);
  },
};

beforeAll(async () => {
  const app = express();
  const types = ["application/json"];
  const log = { info: (fields: object) => void lines.push(fields), warn() {}, error() {} };
  app.get("/healthz", alive);
  app.get(
    "/readyz",
    readiness(
      () => draining,
      async () => check(),
    ),
  );
  app.use(
    "/own",
    requestLog({
      binding: "own",
      denialHeader: "X-Reason",
      log,
      metrics: undefined,
      methodOf: (req) => req.body?.call,
    }),
    refuseWhileDraining(() => draining, answer),
    authentication(authenticator, answer, onFailure),
    rateLimiter({ requests: 20, seconds: 60 })(answer),
    contentType(types, answer),
    jsonBody(types, { bytes: 64, depth: 3 }, answer),
    (req: Request, res: Response) => {
      if (req.path === "/broken") throw new Error("it broke within");
      res.json({ caller: callerOf(req), body: req.body ?? null });
    },
  );
  app.use(...fallback(answer, onFailure));
  server = createServer(app);
  url = await listen(server, {});
});
afterAll(() => drain(server));

function post(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const known = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
  return send(`${url}/own`, { method: "POST", headers: { ...known, ...headers }, body });
}

describe("the HTTP server of a protocol", () => {
  test.each<[string, string, Readonly<Record<string, string>>, number, string]>([
    ["no credentials", "{}", { Authorization: "" }, 401, "token_missing"],
    [
      "unreachable authenticator",
      "{}",
      { Authorization: "Bearer unreachable" },
      503,
      "unavailable",
    ],
    ["another content type", "a", { "Content-Type": "text/plain" }, 415, "content_type"],
    ["a body that is not JSON", "{", {}, 400, "parse_error"],
    ["a JSON array", "[]", {}, 400, "invalid_request"],
    ["JSON nested too deep", '{"a":{"b":{"c":{}}}}', {}, 400, "too_deep"],
    ["a body that is too large", JSON.stringify({ a: "x".repeat(64) }), {}, 413, "too_large"],
    ["a lone surrogate", '{"a":"\\ud83d"}', {}, 400, "invalid_request"],
  ])(
    "answers a failed request in the protocol's own shape: %s",
    async (_, body, headers, status, reason) => {
      const { status: got, body: told } = await post(body, headers);
      expect({ status: got, told }).toMatchObject({ status, told: { own: { reason } } });
    },
  );

  test("passes the method, the URL and the headers of a request to the authenticator", async () => {
    const headers = { Authorization: "Bearer another" };
    await send(`${url}/own/deeper?page=2`, { headers });
    expect(seen.at(-1)).toBe("GET /own/deeper?page=2");
  });

  test("reports an internal error to the operator only", async () => {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    expect(await send(`${url}/own/broken`, { headers })).toMatchObject({
      status: 500,
      body: { own: { reason: "internal_error", message: "internal error" } },
    });
    expect(failures).toEqual([
      "authentication: Error: the keys cannot be fetched",
      "request: Error: it broke within",
    ]);
  });

  test("answers too many requests of one caller with 429 and the seconds to wait", async () => {
    const good = await post('{"call":"read"}');
    expect(good.body).toEqual({
      caller: { principal: "alice", invoker: "assistant" },
      body: { call: "read" },
    });
    expect(lines.at(-1)).toMatchObject({ binding: "own", method: "read", status: 200 });
    let last = good;
    for (let more = 0; more < 20 && last.status === 200; more++) last = await post("{}");
    const { status, body } = last;
    expect({ status, body }).toMatchObject({
      status: 429,
      body: { own: { reason: "rate_limited", retryAfter: expect.any(Number) } },
    });
    expect(lines.at(-1)).toMatchObject({ denials: "rate_limited", principal: "alice" });
  });
});

test("serveMetrics serves metrics at a separate address, and answers every other request at that address with 4xx", async () => {
  const metrics = new AgentMetrics();
  metrics.decided({ kind: "invocation", decision: "allowed", seconds: 0.001 });
  const served = await serveMetrics(metrics);
  const { status, headers, text } = await send(served.url);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/plain; ?version=/);
  expect(text).toContain('proviso_decisions_total{kind="invocation",decision="allowed"');
  expect((await send(served.url, { method: "POST" })).status).toBe(404);
  expect((await send(served.url.replace("/metrics", "/healthz"))).status).toBe(404);
  // A request target that is not a URL does not stop the server.
  for (const path of ["//", "/\\", "*", "http://"]) {
    const answer = await rawRequest(
      served.url,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 4/);
  }
  await served.close();
  await expect(fetch(served.url)).rejects.toThrow();
});

test("/healthz always answers 200, /readyz answers 503 while a check fails or the server drains, and unknown paths get 404", async () => {
  expect((await send(`${url}/elsewhere`)).status).toBe(404);
  expect((await send(`${url}/metrics`)).status).toBe(404);
  const lives = { status: 200, body: { status: "ok" } };
  expect(await send(`${url}/readyz`)).toMatchObject(lives);
  check = () => ["disk_nearly_full", "revocation_stale"];
  expect(await send(`${url}/readyz`)).toMatchObject({
    status: 503,
    body: { status: "failing", problems: check() },
  });
  expect(await send(`${url}/healthz`)).toMatchObject(lives);
  check = () => {
    throw new Error("with a secret in it");
  };
  const failed = await send(`${url}/readyz`);
  expect([failed.status, failed.body]).toEqual([
    503,
    { status: "failing", problems: ["check_failed"] },
  ]);
  expect(await send(`${url}/healthz`)).toMatchObject(lives);
  draining = true;
  expect(await send(`${url}/readyz`)).toMatchObject({ status: 503, body: { status: "draining" } });
  expect(await send(`${url}/healthz`)).toMatchObject(lives);
  expect((await post("{}")).body).toMatchObject({ own: { reason: "unavailable" } });
});

/** Sends the bytes of a request, and returns the server's answer. */
function rawRequest(url: string, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(request));
    let text = "";
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });
}

test("the request log builds no line for a request if the log level is above info", async () => {
  const methodOf = vi.fn<() => string>();
  const quiet = { info: vi.fn(), warn() {}, error() {}, isLevelEnabled: () => false };
  const metrics = new AgentMetrics();
  const answered = vi.spyOn(metrics, "answered");
  const own = express().use(
    requestLog({ binding: "own", denialHeader: "X-Reason", log: quiet, metrics, methodOf }),
    (_req: Request, res: Response) => void res.json({}),
  );
  const other = createServer(own);
  await send(await listen(other, {}), {});
  await drain(other);
  expect(answered).toHaveBeenCalledOnce();
  expect([methodOf.mock.calls, quiet.info.mock.calls]).toEqual([[], []]);
});
