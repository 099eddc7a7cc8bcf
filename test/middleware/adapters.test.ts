import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, createServer as createServer2 } from "node:http2";
import type { AddressInfo } from "node:net";
import express, { type Request as ExpressRequest } from "express";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import { listen } from "../../src/http/listen.js";
import {
  createIssuer,
  createKeyring,
  createRevocationList,
  type VerifiedCapability,
} from "../../src/issuer/index.js";
import {
  capabilityOf,
  createCapabilityMiddleware as forExpress,
} from "../../src/middleware/express.js";
import {
  type CapabilityAuthority,
  createCapabilityMiddleware as forFetch,
  type RouteRequirement,
} from "../../src/middleware/fetch.js";
import {
  createCapabilityMiddleware as forNode,
  type NodeOptions,
} from "../../src/middleware/node.js";
import { attenuated, fixture, mint, misuse } from "../capability/support.js";

// The features of each adapter, and the programming errors that all adapters refuse.

const { issuer } = fixture();
const headers = { "Proviso-Capability": mint(issuer, { principal: "alice" }) };
const GET = { grant: "files", operation: "get" } as const;
const onFailure = (): void => {};
const OK = new Response("ok");
/** The body is larger than the buffer of a socket. */
const LONG = "x".repeat(8 * 1024 * 1024);

async function serving(server: Server): Promise<string> {
  onTestFinished(() => void server.close());
  return listen(server, {});
}

describe("a wrong option or requirement is a TypeError when the middleware is made", () => {
  test.each<[string, unknown, RegExp]>([
    ["undefined as the requirement", undefined, /must be an object such as/],
    ["a requirement without a grant", { operation: "get" }, /requirement\.grant must be a grant/],
    ["an empty array of grants", { ...GET, grant: [] }, /requirement\.grant must be a grant/],
    ["an empty grant", { ...GET, grant: ["files", ""] }, /requirement\.grant must be a grant/],
    [
      "a requirement without an operation",
      { grant: "files" },
      /requirement\.operation must be a non-empty string/,
    ],
    ["a misspelt operation", { ...GET, operation: ["get"] }, /requirement\.operation/],
    [
      "handles in place of a function",
      { ...GET, resourceHandles: ["rh_1"] },
      /resourceHandles must be a func/,
    ],
    [
      "arguments in place of a function",
      { ...GET, arguments: {} },
      /requirement\.arguments must be a function/,
    ],
    [
      "an invoker in place of a function",
      { ...GET, invoker: "a" },
      /requirement\.invoker must be a function/,
    ],
    [
      "an unknown place for the token",
      { ...GET, in: "cookie" },
      /requirement\.in must be "authorization"/,
    ],
    ["a misspelt property", { ...GET, resourceHandle: () => [] }, /did you mean "resourceHandles"/],
  ])("%s", (_, requirement, message) => {
    // A program without type checks can pass a wrong requirement.
    const wrong = requirement as RouteRequirement<readonly unknown[]>;
    expect(misuse(() => forExpress(issuer)(wrong))).toMatch(message);
    expect(misuse(() => forFetch(issuer)(wrong, () => new Response()))).toMatch(message);
    expect(misuse(() => forNode(issuer, { onFailure })(wrong, () => {}))).toMatch(message);
  });

  test.each<[string, unknown, unknown, RegExp]>([
    ["no authority", undefined, {}, /must be an object with authorize\(token, invocation\)/],
    [
      "a misspelt option",
      issuer,
      { relm: "x" },
      /options\.relm: unknown property; did you mean "realm"/,
    ],
    ["a realm with quotes", issuer, { realm: 'a"' }, /realm must be printable ASCII/],
    ["a realm with a line break", issuer, { realm: "a\r\nb: c" }, /realm must be printable ASCII/],
    ["an empty realm", issuer, { realm: "" }, /realm must be printable ASCII/],
  ])("%s", (_, authority, options, message) => {
    const [wrong, given] = [authority as CapabilityAuthority, options as object];
    expect(misuse(() => forExpress(wrong, given))).toMatch(message);
    expect(misuse(() => forFetch(wrong, given))).toMatch(message);
    expect(misuse(() => forNode(wrong, { onFailure, ...given }))).toMatch(message);
  });

  test("a missing onFailure for node:http", () => {
    const message = /options\.onFailure must be a function/;
    expect(misuse(() => forNode(issuer, {} as NodeOptions))).toMatch(message);
  });
});

test("changing the requirement object later does not change a route", async () => {
  const requirement = { ...GET, resourceHandles: (): string[] => ["rh_1"], grant: ["files"] };
  const handler = forFetch(issuer)(requirement, () => new Response("here"));
  const token = mint(issuer, { resourceHandles: ["rh_2"] });
  const asked = new Request("https://here.example", { headers: { "Proviso-Capability": token } });
  expect((await handler(asked)).status).toBe(403);
  requirement.resourceHandles = () => ["rh_2"];
  requirement.grant[0] = "others";
  const answer = await handler(asked);
  expect(answer.headers.get("proviso-denial")).toBe("resource_denied");
});

test("the body of a refusal lists at most 32 denials, and the header Proviso-Denial lists the codes of all denials", async () => {
  const named = Array.from({ length: 40 }, (_, at) => `rh_${at}`);
  const other = { resourceHandles: ["rh_other"] };
  const token = attenuated(attenuated(mint(issuer, other), other), {
    ...other,
    operations: ["put"],
  });
  const handler = forFetch(issuer)({ ...GET, resourceHandles: () => named }, () => new Response());
  const asked = new Request("https://here.example", { headers: { "Proviso-Capability": token } });
  const answer = await handler(asked);
  const { denials } = JSON.parse(await answer.text());
  expect([answer.status, denials.length]).toEqual([403, 32]);
  expect(answer.headers.get("proviso-denial")).toBe("resource_denied,operation_denied");
});

test("the request and the capability that a handler receives are typed", () => {
  expectTypeOf(capabilityOf).returns.toEqualTypeOf<VerifiedCapability>();
  const requires = forExpress(issuer);
  const app = express();
  app.get(
    "/:id",
    requires({ ...GET, resourceHandles: (req: ExpressRequest<{ id: string }>) => [req.params.id] }),
    (req, res) => {
      expectTypeOf(req.params.id).toEqualTypeOf<string>();
      res.end();
    },
  );
  app.get("/other/:id", requires(GET), (req) => {
    expectTypeOf(req.params.id).toEqualTypeOf<string>();
  });
  app.use(requires(GET));
  forFetch(issuer)(GET, (request, capability) => {
    expectTypeOf(request).toEqualTypeOf<Request>();
    expectTypeOf(capability).toEqualTypeOf<VerifiedCapability>();
    return new Response();
  });
  forNode(issuer, { onFailure })(GET, (_req, _res, capability) => {
    expectTypeOf(capability).toEqualTypeOf<VerifiedCapability>();
  });
});

describe("on Express", () => {
  test("capabilityOf throws for a request that passed no middleware", async () => {
    const app = express();
    app.get("/", (req, res) => void res.json(misuse(() => capabilityOf(req))));
    app.get("/refused", forExpress(issuer)({ ...GET, operation: "delete" }));
    const url = await serving(createServer(app));
    expect(await (await fetch(url, { headers })).json()).toMatch(/has not been checked/);
    expect((await fetch(`${url}/refused`, { headers })).status).toBe(403);
  });

  test("a Cache-Control that the app set earlier is kept", async () => {
    const app = express();
    app.use((_req, res, next) => next(void res.set("Cache-Control", "private, max-age=5")));
    app.get("/", forExpress(issuer)(GET), (_req, res) => void res.send("here"));
    const answer = await fetch(await serving(createServer(app)), { headers });
    expect(answer.headers.get("cache-control")).toBe("private, max-age=5");
  });

  test("each of several routes checks its own requirement", async () => {
    const app = express();
    const requires = forExpress(issuer);
    app.use("/files", requires(GET));
    app.put("/files", requires({ ...GET, operation: "put" }));
    app.all("/files", (req, res) => void res.send(capabilityOf(req).id));
    const url = await serving(createServer(app));
    const readOnly = { "Proviso-Capability": mint(issuer, { operations: ["get"] }) };
    expect((await fetch(`${url}/files`, { headers: readOnly })).status).toBe(200);
    expect((await fetch(`${url}/files`, { method: "PUT", headers: readOnly })).status).toBe(403);
    expect((await fetch(`${url}/files`, { method: "PUT", headers })).status).toBe(200);
    const head = await fetch(`${url}/files`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([401, ""]);
  });
});

describe("on node:http, a handler that throws", () => {
  test.each<[string, (res: ServerResponse) => unknown, unknown]>([
    [
      "before its answer gets 500, without the headers that the handler had set",
      (res) => {
        res.setHeader("Content-Length", "3").setHeader("X-Secret", "s");
        throw new Error("it broke");
      },
      { status: 500, secret: null, text: '{"error":"internal_error"}' },
    ],
    [
      "in the middle of its answer ends the connection",
      async (res) => {
        res.write("ab");
        throw new Error("it broke");
      },
      { cut: true },
    ],
    [
      "after its answer does not change the answer",
      async (res) => {
        res.end(LONG);
        throw new Error("it broke");
      },
      { status: 200, secret: null, text: LONG },
    ],
  ])("%s", async (_, handle, expected) => {
    const failures: unknown[] = [];
    const requires = forNode(issuer, { onFailure: (error) => void failures.push(error) });
    const url = await serving(createServer(requires(GET, (_req, res) => handle(res))));
    const got = await fetch(url, { headers })
      .then(async (answer) => ({
        status: answer.status,
        secret: answer.headers.get("x-secret"),
        text: await answer.text(),
      }))
      .catch(() => ({ cut: true }));
    expect(got).toEqual(expected);
    expect(failures).toEqual([new Error("it broke")]);
  });
});

test("making a route whose grant or operation the issuer lacks is a TypeError", () => {
  const grants = [{ id: "files", operations: ["get"] }];
  const options = { name: "files", keys: createKeyring(), revocations: createRevocationList() };
  const requires = forFetch(createIssuer({ ...options, grants }));
  const made = (requirement: object) =>
    misuse(() => requires({ ...GET, ...requirement }, () => OK));
  expect(made({ grant: "file" })).toContain('there is no grant "file"; did you mean "files"?');
  expect(made({ operation: "git" })).toContain('no such grant has "git"; did you mean "get"?');
});

test("on node:http, a request whose handler throws is answered 500 even if onFailure throws", async () => {
  const rejections: unknown[] = [];
  const requires = forNode(issuer, {
    onFailure: () => {
      throw new Error("the log is full");
    },
  });
  const handler = requires(GET, () => {
    throw new Error("it broke");
  });
  const server = createServer((req, res) => {
    Promise.resolve(handler(req, res)).catch((error: unknown) => rejections.push(error));
  });
  const url = await serving(server);
  expect((await fetch(url, { headers })).status).toBe(500);
  expect(rejections).toEqual([new Error("the log is full")]);
});

test("on node:http, an HTTP/2 request is served, and two capability headers are answered 400", async () => {
  const seen: string[] = [];
  const handler = forNode(issuer, { onFailure })(GET, (_req, res, { principal }) => {
    seen.push(principal ?? "");
    res.end(principal);
  });
  const server = createServer2((req, res) => {
    Reflect.apply(handler, undefined, [req, res]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const session = connect(`http://127.0.0.1:${port}`);
  const token = Object.values(headers)[0] ?? "";
  const statuses: unknown[] = [];
  for (const given of [token, [token, "another"], undefined]) {
    const asked = given === undefined ? {} : { "proviso-capability": given };
    const stream = session.request({ ":path": "/", ...asked });
    statuses.push(
      await new Promise((resolve) => stream.on("response", (got) => resolve(got[":status"]))),
    );
    stream.close();
  }
  session.close();
  server.close();
  expect([statuses, seen]).toEqual([[200, 400, 401], ["alice"]]);
});

describe("on Fetch", () => {
  const asked = (): Request => new Request("https://here.example", { headers });
  const requires = forFetch(issuer);

  test("further arguments of the server are passed to the requirement and the handler", async () => {
    const handler = requires<[env: { readonly agent: string }]>(
      { ...GET, invoker: (_request, env) => env.agent },
      (_request, capability, env) => new Response(`${env.agent} for ${capability.principal}`),
    );
    expect(await (await handler(asked(), { agent: "assistant" })).text()).toBe(
      "assistant for alice",
    );
  });

  test("a response with immutable headers still gets Cache-Control and Vary", async () => {
    const origin = createServer((_req, res) => res.writeHead(201, { "X-Own": "1" }).end("made"));
    const url = await serving(origin);
    const answer = await requires(GET, () => fetch(url))(asked());
    expect([answer.status, answer.headers.get("x-own"), await answer.text()]).toEqual([
      201,
      "1",
      "made",
    ]);
    expect(answer.headers.get("cache-control")).toBe("private, no-cache");
    const gone = Response.error();
    expect(await requires(GET, () => gone)(asked())).toBe(gone);
  });

  test("an error thrown by the handler is thrown to the server", async () => {
    const handler = requires(GET, async () => {
      throw new Error("it broke");
    });
    await expect(handler(asked())).rejects.toThrow("it broke");
  });
});

describe("malformed input", () => {
  test.each<[unknown, string]>([
    [[1], "arguments must be a plain object, not an array"],
    ["a", "arguments must be a plain object, not a string"],
    [{ handles: "rh_1" }, "resourceHandles must be an array of strings, not a string"],
    [{ handles: ["rh_1", 2] }, "resourceHandles[1] must be a string, not a number"],
  ])(
    "is answered 400, and the message names the property, if a route reads arguments or handles from %j",
    async (body, message) => {
      const requires = forExpress(issuer);
      const app = express();
      app.use(express.json({ strict: false }));
      const route = requires({
        ...GET,
        resourceHandles: (req: ExpressRequest) => req.body.handles ?? [],
        arguments: (req: ExpressRequest) => req.body,
      });
      app.post("/", route, (_, res) => void res.send("ran"));
      const url = await serving(createServer(app));
      const answer = await fetch(url, {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: "invalid_request", message });
    },
  );
});

test("forNode throws a TypeError if its options are undefined", () => {
  expect(misuse(() => forNode(issuer, undefined as unknown as NodeOptions))).toBe(
    "options must be a plain object, not undefined",
  );
});

describe("a route for tool calls", () => {
  const known = fixture({
    grants: [{ id: "tools", description: "t", operations: ["read", "pay"] }],
  });
  const { token } = known.issuer.mint({
    grant: "tools",
    operationConstraints: { pay: { amount: { max: 50 } } },
    arguments: { read: ["path"] },
  });
  const requires = forFetch(known.issuer);
  const bodyOf = async (request: Request) => JSON.parse(await request.clone().text());
  const call = requires(
    {
      grant: "tools",
      operation: async (request) => (await bodyOf(request)).tool,
      arguments: async (request) => (await bodyOf(request)).input,
    },
    () => OK.clone(),
  );
  const post = (body: unknown): Request =>
    new Request("http://here/", {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Proviso-Capability": token },
    });

  test.each<[unknown, number]>([
    [{ tool: "pay", input: { amount: 50 } }, 200],
    [{ tool: "pay", input: { amount: 51 } }, 403],
    [{ tool: "read", input: { path: "/a" } }, 200],
    [{ tool: "read", input: { path: "/a", mode: "w" } }, 403],
    [{ tool: "delete", input: {} }, 403],
    [{ tool: "", input: {} }, 400],
    [{ tool: 5, input: {} }, 400],
    [{ input: {} }, 400],
    [{ tool: "read", input: "path" }, 400],
  ])("that reads the operation and the arguments answers %j with %d", async (body, status) => {
    expect((await call(post(body))).status).toBe(status);
  });

  test("that reads the operation refuses an operation that the grant lacks, and names the operation", async () => {
    const answer = await call(post({ tool: "delete", input: {} }));
    expect(await answer.json()).toMatchObject({
      denials: [
        { code: "grant_denied", rule: "operations", actual: "delete" },
        { code: "operation_denied" },
      ],
    });
  });

  test("that reads no arguments refuses a token that limits arguments", async () => {
    const blind = requires({ grant: "tools", operation: "read" }, () => OK.clone());
    const answer = await blind(post({}));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      message: 'the token limits the arguments of "read", and this route reads none',
      denials: [{ code: "constraint_violated", rule: "arguments" }],
    });
    // The client cannot change arguments that the route does not read.
    const pay = requires({ grant: "tools", operation: "pay" }, () => OK.clone());
    const limited = JSON.stringify(await (await pay(post({}))).json());
    expect(limited).toContain("operationConstraints.pay.amount.max");
    expect(limited).not.toContain("remedy");
    // The route accepts a capability that does not limit arguments.
    const { token: whole } = known.issuer.mint({ grant: "tools" });
    const plain = new Request("http://here/", { headers: { "Proviso-Capability": whole } });
    expect((await blind(plain)).status).toBe(200);
  });
});
