import { EventEmitter, once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { AgentCard } from "@a2a-js/sdk";
import {
  DefaultRequestHandler,
  defaultServerCallContextBuilder,
  InMemoryTaskStore,
  type ServerCallContext,
} from "@a2a-js/sdk/server";
import { jsonRpcHandler } from "@a2a-js/sdk/server/express";
import express, { type RequestHandler } from "express";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { guard } from "../../../../src/protocols/a2a/index.js";
import { type Answer, at, quietConsole, send } from "../callers.js";
import { type DeskOptions, desk, needs, startDesk } from "./own-agent.js";

// Each operation runs for the caller whose request the guard admitted, even in an app that confuses requests.

beforeEach(() => {
  quietConsole();
});

type Ask = (
  method: string,
  params: object,
  invoker?: string,
  signal?: AbortSignal,
) => Promise<Answer>;

async function start(options: DeskOptions) {
  const { url, desk: own } = await startDesk(await desk({ mode: "prefer" }), options);
  const ask: Ask = (method, params, invoker = "assistant", signal = new AbortController().signal) =>
    send(`${url}/rpc`, {
      method: "POST",
      signal,
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer alice:${invoker}`,
        "A2A-Version": "1.0",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const say = (text: string, invoker?: string): Promise<Answer> =>
    ask(
      "SendMessage",
      { message: { messageId: text, role: "ROLE_USER", parts: [{ text }] } },
      invoker,
    );
  const ranFor = (): readonly string[] => own.cleared.map(({ caller }) => caller.invoker);
  return { ask, say, ranFor };
}

/** Returns a middleware that holds one request between the guard and the SDK's handlers. */
function hold() {
  const events = new EventEmitter();
  const [held, closed, released] = ["held", "closed", "released"].map((name) => once(events, name));
  let holds = false;
  const between: RequestHandler = (_req, res, next) => {
    if (!holds) return next();
    holds = false;
    res.once("close", () => events.emit("closed"));
    events.emit("held");
    void released?.then(() => next());
  };
  const next = (): void => {
    holds = true;
  };
  return { between, next, held, closed, release: () => events.emit("released") };
}

test("behind a guard, two requests that share a headers object each run for their own caller", async () => {
  const holding = hold();
  let headers: IncomingHttpHeaders | undefined;
  const { say, ranFor } = await start({
    apart: true,
    between: holding.between,
    caller: (req) => {
      const [, invoker = ""] = req.get("Authorization")?.split(":") ?? [];
      headers ??= req.headers;
      req.headers = headers;
      return { principal: "alice", invoker };
    },
  });
  holding.next();
  const first = say("say mine", "assistant");
  await holding.held;
  const second = await say("say theirs", "other");
  holding.release();
  expect(at((await first).body, "result", "message", "parts", 0, "text")).toBe("mine");
  expect(at(second.body, "result", "message", "parts", 0, "text")).toBe("theirs");
  expect(ranFor()).toEqual(["other", "assistant"]);
});

test("behind a guard, an operation with the SDK context of another request does not run", async () => {
  let shared: ServerCallContext | undefined;
  const { say, ranFor } = await start({
    apart: true,
    contextBuilder: (options) => {
      shared ??= defaultServerCallContextBuilder(options);
      return shared;
    },
  });
  const first = await say("say mine", "assistant");
  expect(at(first.body, "result", "message", "parts", 0, "text")).toBe("mine");
  const second = await say("say theirs", "other");
  expect(at(second.body, "error", "message")).toContain("has not come through the guard");
  expect(ranFor()).toEqual(["assistant"]);
});

test("a request admitted by one guard does not run in the handler of another guard", async () => {
  const world = await desk({ mode: "prefer" });
  const agent = new DefaultRequestHandler(
    AgentCard.fromJSON({ supportedInterfaces: [RPC], capabilities: {} }),
    new InMemoryTaskStore(),
    { execute: async () => {}, cancelTask: async () => {} },
  );
  const caller = () => ({ principal: "alice", invoker: "assistant" });
  const [strict, lax] = [
    guard({ agent: world.agent, handler: agent, needs: () => undefined, caller }),
    guard({ agent: world.agent, handler: agent, needs, caller }),
  ];
  const app = express().use(
    lax.before,
    jsonRpcHandler({ requestHandler: strict.handler, userBuilder: lax.userBuilder }),
  );
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const { body } = await send(
    `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    {
      method: "POST",
      headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "say hi" }] } },
      }),
    },
  );
  expect(at(body, "error", "message")).toContain("has not come through the guard");
});

const RPC = { url: "http://127.0.0.1/", protocolBinding: "JSONRPC", protocolVersion: "1.0" };

test("behind a guard, a request does not run if its connection closes before the operation begins", async () => {
  const holding = hold();
  const tasks = new InMemoryTaskStore();
  const load = vi.spyOn(tasks, "load");
  const { ask, say } = await start({ apart: true, between: holding.between, tasks });
  const id = at((await say("ask me")).body, "result", "task", "id");
  const read = (signal?: AbortSignal) => ask("GetTask", { id }, "assistant", signal);
  load.mockClear();
  expect(at((await read()).body, "result", "id")).toBe(id);
  const loads = load.mock.calls.length;
  holding.next();
  const leaving = new AbortController();
  const left = read(leaving.signal).catch(String);
  await holding.held;
  leaving.abort();
  await holding.closed;
  holding.release();
  expect(await left).toContain("AbortError");
  expect(at((await read()).body, "result", "id")).toBe(id);
  expect(load).toHaveBeenCalledTimes(2 * loads);
});

test("behind a guard, each request runs for its own caller even if the app reuses one caller object", async () => {
  const shared = { principal: "", invoker: "" };
  const { url, desk: own } = await startDesk(await desk({ mode: "prefer" }), {
    caller: (req) => {
      const [, principal = "", invoker = ""] =
        /^Bearer (.+):(.+)$/.exec(req.get("Authorization") ?? "") ?? [];
      return Object.assign(shared, { principal, invoker });
    },
    needs: async (message) => {
      // Meanwhile, the request of another caller arrives.
      Object.assign(shared, { principal: "bob", invoker: "other" });
      return needs(message);
    },
  });
  const params = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "say hi" }] } };
  for (const [path, body] of [
    ["/rpc", { jsonrpc: "2.0", id: 1, method: "SendMessage", params }],
    ["/rest/message:send", params],
  ] as const) {
    const { status } = await send(`${url}${path}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: "Bearer alice:assistant",
        "A2A-Version": "1.0",
      },
      body: JSON.stringify(body),
    });
    expect(status).toBe(200);
  }
  const alice = { principal: "alice", invoker: "assistant" };
  expect(own.cleared.map(({ caller }) => caller)).toEqual([alice, alice]);
});
