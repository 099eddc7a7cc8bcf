import { Agent, request } from "node:http";
import type { Task } from "@a2a-js/sdk";
import { InMemoryTaskStore, type ServerCallContext } from "@a2a-js/sdk/server";
import type { Response } from "express";
import { expect, test } from "vitest";
import { EXTENSION_URI } from "../../../../src/protocols/a2a/index.js";
import { ALICE, granted } from "../../../agent/support.js";
import { quietConsole } from "../callers.js";
import { desk, startDesk } from "./own-agent.js";

// Behind the same middleware, the guard's own JSON-RPC handler answers like the SDK's Express handler.

const said = (text: string, id = "m") => ({
  message: { messageId: id, role: "ROLE_USER", parts: [{ text }] },
});
const call = (method: unknown, params: unknown, more: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 7, method, params, ...more });

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

const SAY = call("SendMessage", said("say hello"));
const REQUESTS: Readonly<Record<string, Asked>> = {
  "a message": { body: SAY },
  "a task": { body: call("SendMessage", said("write one")) },
  "a stream": { body: call("SendStreamingMessage", said("write one")) },
  "a failure": { body: call("SendMessage", said("fail")) },
  "an id that is a string": { body: call("SendMessage", said("say x"), { id: "seven" }) },
  "an id that is null": { body: call("SendMessage", said("say x"), { id: null }) },
  "no id": { body: call("SendMessage", said("say x"), { id: undefined }) },
  "an id that is an object": { body: call("SendMessage", said("say x"), { id: {} }) },
  "an id that is a fraction": { body: call("SendMessage", said("say x"), { id: 1.5 }) },
  "another version of JSON-RPC": { body: call("SendMessage", said("say x"), { jsonrpc: "1.0" }) },
  "no parameters": { body: call("SendMessage", undefined) },
  "parameters that are an array": { body: call("SendMessage", [1]) },
  "no message": { body: call("SendMessage", {}) },
  "a task that does not exist": { body: call("GetTask", { id: "none" }) },
  "a page": { body: call("ListTasks", {}) },
  "a page size past the maximum": { body: call("ListTasks", { pageSize: 1000 }) },
  "a subscription to a task that does not exist": { body: call("SubscribeToTask", { id: "none" }) },
  "an extended card": { body: call("GetExtendedAgentCard", undefined) },
  "an unknown method": { body: call("Frobnicate", {}) },
  "a method that is not a string": { body: call({ a: 1 }, {}) },
  "a tenant": { body: call("SendMessage", { ...said("say x"), tenant: "one" }) },
  "a tenant that is not a string": { body: call("SendMessage", { ...said("say x"), tenant: 5 }) },
  "the media type of HTTP+JSON": { headers: { "Content-Type": "application/a2a+json" }, body: SAY },
  "a charset": { headers: { "Content-Type": "application/json; charset=utf-8" }, body: SAY },
  "a media type in capitals": { headers: { "Content-Type": "APPLICATION/JSON" }, body: SAY },
  "the media type text/plain": { headers: { "Content-Type": "text/plain" }, body: SAY },
  "an older A2A version": { headers: { "A2A-Version": "0.3" }, body: SAY },
  "an unknown later A2A version": { headers: { "A2A-Version": "9.9" }, body: SAY },
  "no A2A version": { headers: { "A2A-Version": "" }, body: SAY },
  "other extensions": { headers: { "A2A-Extensions": "urn:a, urn:b" }, body: SAY },
  "a body that is not JSON": { body: "{" },
  "a body that is an array": { body: `[${SAY}]` },
  "no body": { method: "POST" },
  "a GET": { method: "GET" },
  "a PUT": { method: "PUT", body: SAY },
  "a path below the endpoint": { path: "/rpc/below", body: SAY },
  "a trailing slash": { path: "/rpc/", body: SAY },
  "a JSON-RPC message at an HTTP+JSON address": {
    path: "/rpc/message:send",
    body: call("SendMessage", { ...said("say x"), tenant: "T".repeat(1000) }, said("say x")),
  },
  "a JSON-RPC call at the HTTP+JSON address of a cancellation": {
    path: "/rpc/tasks/x:cancel",
    body: call("GetTask", { id: "a\u0007b" }),
  },
  "a PATCH at an HTTP+JSON address": {
    method: "PATCH",
    path: "/rpc/tasks",
    body: call("ListTasks", {}),
  },
  "a GET at an HTTP+JSON address": { method: "GET", path: "/rpc/tasks" },
};

const HEADERS = {
  "Content-Type": "application/json",
  "A2A-Version": "1.0",
  "A2A-Extensions": EXTENSION_URI,
};

async function answerOf(url: string, token: string, { path = "/rpc", ...asked }: Asked) {
  const answer = await fetch(`${url}${path}`, {
    method: asked.method ?? "POST",
    headers: {
      ...HEADERS,
      Authorization: `Bearer ${ALICE.principal}:${ALICE.invoker}`,
      "Proviso-Capability": token,
      ...asked.headers,
    },
    body: asked.body,
  });
  // Express adds an ETag, which means nothing for the answer to a POST.
  const headers = [...answer.headers].filter(([name]) => !["date", "etag"].includes(name));
  const text = (await answer.text())
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");
  return { status: answer.status, headers, text };
}

test.each(Object.entries(REQUESTS))(
  "the guard's jsonRpc and the SDK's handler give the same answer to: %s",
  async (name, asked) => {
    quietConsole();
    const issuing = await desk();
    const [{ token } = { token: "" }] = await granted(issuing.agent, { grants: ["desk:use"] });
    const [whole, apart] = [await startDesk(issuing), await startDesk(issuing, { apart: true })];
    const answer = await answerOf(whole.url, token, asked);
    expect(answer).toEqual(await answerOf(apart.url, token, asked));
    const told = (one: typeof whole): readonly string[] =>
      one.desk.told.map((text) => text.replace(/127\.0\.0\.1:\d+/, "host"));
    expect(told(whole)).toEqual(told(apart));
    expect(whole.desk.ran.length).toBe(apart.desk.ran.length);
    if (name === "a message") expect(whole.desk.ran.length).toBe(1);
  },
);

type Act = (task: Task, context: ServerCallContext) => unknown;

/** A store that runs an action before it saves a task. */
class ActingStore extends InMemoryTaskStore {
  readonly #act: Act;

  constructor(act: Act) {
    super();
    this.#act = act;
  }

  override async save(task: Task, context: ServerCallContext): Promise<void> {
    await this.#act(task, context);
    return super.save(task, context);
  }
}

const WRITE: Asked = { body: call("SendMessage", said("write one")) };

test.each<[string, Act]>([
  ["a value that is not JSON", (task) => Object.assign(task, { metadata: { large: 1n } })],
  ["an invalid header", (_task, context) => context.addActivatedExtension("urn:a\nb")],
])("a result that cannot be sent is answered as a JSON-RPC error: %s", async (_name, act) => {
  quietConsole();
  const failures: unknown[] = [];
  const issuing = await desk();
  const [{ token } = { token: "" }] = await granted(issuing.agent, { grants: ["desk:use"] });
  const onFailure = (error: unknown): never => {
    failures.push(error);
    throw new Error("the log is full");
  };
  const { url } = await startDesk(issuing, { onFailure, tasks: new ActingStore(act) });
  const { status, text } = await answerOf(url, token, WRITE);
  const error = { code: -32603, message: "internal error" };
  expect([status, JSON.parse(text)]).toMatchObject([500, { id: 7, error }]);
  expect(failures).toHaveLength(1);
});

test("if the app answers before jsonRpc does, jsonRpc's late answer does not reach the connection's next request", async () => {
  const issuing = await desk();
  const [{ token } = { token: "" }] = await granted(issuing.agent, { grants: ["desk:use"] });
  let answers: Response[] = [];
  const { url } = await startDesk(issuing, {
    caller: (req) => {
      if (req.res !== undefined) answers.push(req.res);
      return ALICE;
    },
    tasks: new ActingStore(async () => {
      for (const res of answers) res.status(503).end();
      answers = [];
      await new Promise((done) => setTimeout(done, 20));
    }),
  });
  const connections = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  const post = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { method: "POST", agent: connections };
      const sent = request(
        `${url}/rpc`,
        { ...options, headers: { ...HEADERS, "Proviso-Capability": token } },
        (answer) => {
          ports.add(answer.socket.localPort);
          answer.resume().on("end", () => resolve(answer.statusCode));
        },
      );
      sent.on("error", reject).end(WRITE.body);
    });
  for (let at = 0; at < 3; at++) {
    expect(await post()).toBe(503);
    // Wait until the handler has made its late answer.
    await new Promise((done) => setTimeout(done, 150));
  }
  expect(ports.size).toBe(1);
  connections.destroy();
});
