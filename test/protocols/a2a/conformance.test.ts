import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type Json } from "../../../src/bytes/json.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  type Answer,
  at,
  BINDINGS,
  type BindingName,
  callOf,
  clientOf,
  quietConsole,
  send,
  taskIn,
  textAt,
} from "./callers.js";
import { AT_ONCE, held, presenting, userMessage } from "./set-up.js";

// Requirements of A2A 1.0 that no other test file covers. docs/a2a-conformance.md lists all requirements.

let agent: TestAgent;
let token: string;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({ runTask: async ({ text }) => ({ said: text }) });
  ({ token } = await held(agent));
});

afterAll(() => agent.remove());

type Headers = Readonly<Record<string, string>>;

/** Returns the headers of a client that uses the extension. */
function headersWith(more: Headers = {}): Headers {
  return { ...presenting(token), ...more };
}

const WORDS: Json = [{ text: "hello" }];

function rpcBody(message: Json): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
}

/** Sends a message over a binding. With `stream`, uses the streaming method. */
function sendMessage(
  binding: BindingName,
  message: Json,
  { stream = false, headers = {} }: { readonly stream?: boolean; readonly headers?: Headers } = {},
): Promise<Answer> {
  const method = stream ? "SendStreamingMessage" : "SendMessage";
  const rest = `${agent.server.restUrl}/message:${stream ? "stream" : "send"}`;
  const body =
    binding === "JSON-RPC" ? { jsonrpc: "2.0", id: 1, method, params: { message } } : { message };
  return send(binding === "JSON-RPC" ? agent.server.rpcUrl : rest, {
    method: "POST",
    headers: headersWith(headers),
    body: JSON.stringify(body),
  });
}

/** Returns the first detail of an error, with its code and HTTP status. Reads the formats of both bindings. */
function errorOf({ status, body }: Answer): { readonly [name: string]: Json } {
  const error = at(body, "error");
  const detail = [at(error, "data", 0), at(error, "details", 0)].find(isJsonObject) ?? {};
  return { status, code: at(error, "code"), reason: detail["reason"] ?? null, ...named(detail) };
}

function named({ domain = null }: { readonly [name: string]: Json }) {
  return { domain };
}

const A2A = "a2a-protocol.org";

/** Returns the expected form of one of A2A's own errors in a binding. */
function a2aError(binding: BindingName, reason: string, code: number, http: number) {
  return { reason, domain: A2A, ...of(binding, code, http) };
}

/**
 * Returns the expected status and code: JSON-RPC answers with HTTP 200, HTTP+JSON with the HTTP status of the
 * error.
 */
function of(binding: BindingName, code: number, http: number) {
  return binding === "JSON-RPC" ? { status: 200, code } : { status: http, code: http };
}

describe.each(BINDINGS)("over %s", (binding) => {
  const unsupported = a2aError(binding, "CONTENT_TYPE_NOT_SUPPORTED", -32005, 415);
  const invalid = { ...of(binding, -32602, 400), reason: "invalid_request" };

  test.each<[string, Json]>([
    ["bytes", { raw: "dGNr", mediaType: "application/x-unsupported-tck-type" }],
    ["bytes without a media type", { raw: "dGNr" }],
    ["bytes of a supported media type", { raw: "dGNr", mediaType: "text/plain" }],
    ["a file by URL", { url: "https://files.example/a.txt", mediaType: "text/plain" }],
    ["a text of another media type", { text: "<p>", mediaType: "text/html" }],
    ["data of another media type", { data: {}, mediaType: "application/xml" }],
  ])("a message part of an unsupported kind is refused: %s", async (_, part) => {
    const runs = agent.ran.length;
    for (const stream of [false, true]) {
      const alone = await sendMessage(binding, userMessage([part]), { stream });
      expect(errorOf(alone)).toEqual(unsupported);
      const among = await sendMessage(binding, userMessage([{ text: "x" }, part]), { stream });
      expect(errorOf(among)).toEqual(unsupported);
      expect(textAt(among.body, "error", "message")).toContain("message.parts[1]");
    }
    expect(agent.ran.length).toBe(runs);
  });

  test.each<[string, Json]>([
    ["without a media type", { text: "hello" }],
    ["text/plain", { text: "hello", mediaType: "text/plain" }],
    [
      "with a parameter, in any letter case",
      { text: "hello", mediaType: "Text/Plain; charset=utf-8" },
    ],
    ["data", { data: { a: 1 }, mediaType: "application/json" }],
  ])("a message part of a supported kind is accepted: %s", async (_, part) => {
    expect((await sendMessage(binding, userMessage([part]))).text).toContain(
      "TASK_STATE_COMPLETED",
    );
  });

  test("a body whose content type is not JSON is refused", async () => {
    for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
      const headers = { "Content-Type": type };
      const answer = await sendMessage(binding, userMessage(WORDS), { headers });
      expect(errorOf(answer)).toEqual(unsupported);
      expect(textAt(answer.body, "error", "message")).toContain(type);
    }
  });

  test("a body whose charset is not UTF-8 is refused", async () => {
    for (const charset of ["utf-16", "utf-16le", "utf-32", "utf-7", "latin1"]) {
      const headers = { "Content-Type": `application/json; charset=${charset}` };
      const answer = await sendMessage(binding, userMessage(WORDS), { headers });
      expect(errorOf(answer)).toMatchObject({ ...of(binding, -32600, 400) });
      expect(textAt(answer.body, "error", "message")).toBe("the body must be UTF-8");
    }
    const twice = 'application/json; x=";charset=utf-8"; charset=utf-16le';
    const answer = await sendMessage(binding, userMessage(WORDS), {
      headers: { "Content-Type": twice },
    });
    expect(textAt(answer.body, "error", "message")).toBe("the body must be UTF-8");
    for (const type of ["application/json; charset=utf-8", 'application/json;charset="UTF-8"']) {
      const answer = await sendMessage(binding, userMessage(WORDS), {
        headers: { "Content-Type": type },
      });
      expect(answer.text).toContain("TASK_STATE_COMPLETED");
    }
  });

  test("bytes in a body that are not valid UTF-8 are read as U+FFFD", async () => {
    const message = userMessage([{ text: "caf?" }]);
    const body = binding === "JSON-RPC" ? rpcBody(message) : JSON.stringify({ message });
    const bytes = new Uint8Array(Buffer.from(body));
    bytes[body.indexOf("caf?") + 3] = 0xe9;
    const rest = `${agent.server.restUrl}/message:send`;
    const url = binding === "JSON-RPC" ? agent.server.rpcUrl : rest;
    const answer = await send(url, { method: "POST", headers: headersWith(), body: bytes });
    expect(answer.text).toContain('{"said":"caf\ufffd"}');
  });

  test(`a body of application/a2a+json is ${binding === "HTTP+JSON" ? "accepted" : "refused"}`, async () => {
    const headers = { "Content-Type": "application/a2a+json" };
    const answer = await sendMessage(binding, userMessage(WORDS), { headers });
    if (binding === "JSON-RPC") expect(errorOf(answer)).toEqual(unsupported);
    else expect(answer.text).toContain("TASK_STATE_COMPLETED");
    const { headers: sent } = await sendMessage(binding, userMessage(WORDS));
    const [type] = (sent.get("content-type") ?? "").split(";");
    expect(type).toBe(binding === "JSON-RPC" ? "application/json" : "application/a2a+json");
  });

  test.each<[string, Json]>([
    ["without parts", { messageId: "m", role: "ROLE_USER", parts: [] }],
    ["without a message id", { role: "ROLE_USER", parts: WORDS }],
    ["without a role", { messageId: "m", parts: WORDS }],
    ["with the agent's role", { messageId: "m", role: "ROLE_AGENT", parts: WORDS }],
    ["with an empty part", { messageId: "m", role: "ROLE_USER", parts: [{}] }],
  ])("a message %s is refused", async (_, message) => {
    const answer = await sendMessage(binding, message);
    expect(errorOf(answer)).toMatchObject({ status: invalid.status, code: invalid.code });
    expect(answer.text).not.toContain("TASK_STATE");
  });

  test("unknown properties of a message are ignored", async () => {
    const message = userMessage([{ text: "hello", colour: "red" }], { mood: "fine" });
    expect((await sendMessage(binding, message)).text).toContain("TASK_STATE_COMPLETED");
  });

  test("the A2A version is read from the header or the query, and its patch number is ignored", async () => {
    const { "A2A-Version": _, ...others } = headersWith();
    const url = binding === "JSON-RPC" ? agent.server.rpcUrl : `${agent.server.restUrl}/tasks`;
    const list = (version: string | undefined, query = ""): Promise<Answer> =>
      send(`${url}${query}`, {
        headers: version === undefined ? others : { ...others, "A2A-Version": version },
        ...(binding === "JSON-RPC"
          ? {
              method: "POST",
              body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} }),
            }
          : {}),
      });
    const refused = a2aError(binding, "VERSION_NOT_SUPPORTED", -32009, 400);
    for (const answer of [
      await list("1.0"),
      await list("1.0.7"),
      await list(undefined, "?A2A-Version=1.0"),
    ]) {
      expect(at(answer.body, "error")).toBeNull();
    }
    for (const answer of [
      await list(undefined),
      await list(""),
      await list("0.3"),
      await list("99.0"),
      await list("1.1"),
      await list("99.0", "?A2A-Version=1.0"),
    ]) {
      expect(errorOf(answer)).toEqual(refused);
    }
  });

  test("each A2A error has the code, HTTP status and reason that the specification defines", async () => {
    const done = await sendMessage(binding, userMessage(WORDS));
    const path = binding === "JSON-RPC" ? ["result", "task"] : ["task"];
    const id = textAt(done.body, ...path, "id");
    const operation = (method: string, params: Json, rest: string, verb = "POST") =>
      binding === "JSON-RPC"
        ? send(agent.server.rpcUrl, {
            method: "POST",
            headers: headersWith(),
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
          })
        : send(`${agent.server.restUrl}${rest}`, { method: verb, headers: headersWith() });
    const unknown = randomUUID();
    for (const [answer, reason, code, http] of [
      [
        operation("GetTask", { id: unknown }, `/tasks/${unknown}`, "GET"),
        "TASK_NOT_FOUND",
        -32001,
        404,
      ],
      [
        operation("CancelTask", { id: unknown }, `/tasks/${unknown}:cancel`),
        "TASK_NOT_FOUND",
        -32001,
        404,
      ],
      [
        operation("SubscribeToTask", { id: unknown }, `/tasks/${unknown}:subscribe`),
        "TASK_NOT_FOUND",
        -32001,
        404,
      ],
      [operation("CancelTask", { id }, `/tasks/${id}:cancel`), "TASK_NOT_CANCELABLE", -32002, 409],
      [
        operation("SubscribeToTask", { id }, `/tasks/${id}:subscribe`),
        "UNSUPPORTED_OPERATION",
        -32004,
        400,
      ],
      [
        operation("GetExtendedAgentCard", {}, "/extendedAgentCard", "GET"),
        "UNSUPPORTED_OPERATION",
        -32004,
        400,
      ],
      [
        sendMessage(binding, userMessage(WORDS, { taskId: id })),
        "UNSUPPORTED_OPERATION",
        -32004,
        400,
      ],
      [
        sendMessage(binding, userMessage(WORDS, { taskId: unknown })),
        "TASK_NOT_FOUND",
        -32001,
        404,
      ],
      [
        sendMessage(binding, userMessage(WORDS), { headers: { "A2A-Extensions": "urn:other" } }),
        ...(["EXTENSION_SUPPORT_REQUIRED", -32008, 400] as const),
      ],
    ] as const) {
      const told = await answer;
      expect(errorOf(told)).toEqual(a2aError(binding, reason, code, http));
      if (binding === "HTTP+JSON") {
        expect(at(told.body, "error", "status")).toMatch(/^(NOT_FOUND|FAILED_PRECONDITION)$/);
      }
    }
  });

  test("a task has an id, a context id, the name of its state, and a timestamp in UTC", async () => {
    const contextId = randomUUID();
    const first = await sendMessage(binding, userMessage(WORDS));
    const second = await sendMessage(binding, userMessage(WORDS, { contextId }));
    const path = binding === "JSON-RPC" ? ["result", "task"] : ["task"];
    const [one, two] = [at(first.body, ...path), at(second.body, ...path)];
    expect(textAt(one, "id")).not.toBe(textAt(two, "id"));
    expect(textAt(one, "contextId")).not.toBe("");
    expect(textAt(two, "contextId")).toBe(contextId);
    expect(textAt(one, "status", "state")).toBe("TASK_STATE_COMPLETED");
    expect(textAt(one, "status", "timestamp")).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
    expect(textAt(one, "artifacts", 0, "artifactId")).not.toBe("");
    expect(at(one, "artifacts", 0, "parts", 0, "data")).toEqual({ said: "hello" });
    expect(textAt(one, "history", 0, "role")).toBe("ROLE_USER");
  });

  test("GetTask returns at most historyLength messages, and ListTasks returns artifacts only with includeArtifacts", async () => {
    const done = await sendMessage(binding, userMessage(WORDS));
    const path = binding === "JSON-RPC" ? ["result"] : [];
    const id = textAt(done.body, ...path, "task", "id");
    const ask = (method: string, params: { readonly [name: string]: Json }, rest: string) =>
      binding === "JSON-RPC"
        ? send(agent.server.rpcUrl, {
            method: "POST",
            headers: headersWith(),
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
          })
        : send(`${agent.server.restUrl}${rest}`, { headers: headersWith() });
    for (const historyLength of [0, 1]) {
      const got = await ask(
        "GetTask",
        { id, historyLength },
        `/tasks/${id}?historyLength=${historyLength}`,
      );
      expect(Object(at(got.body, ...path, "history") ?? []).length).toBe(historyLength);
    }
    for (const includeArtifacts of [false, true]) {
      const query = `/tasks?includeArtifacts=${includeArtifacts}&pageSize=1`;
      const listed = await ask("ListTasks", { includeArtifacts, pageSize: 1 }, query);
      expect("artifacts" in Object(at(listed.body, ...path, "tasks", 0))).toBe(includeArtifacts);
      expect(at(listed.body, ...path, "nextPageToken")).toEqual(expect.any(String));
    }
  });

  test("all streams of a task get the same events, even if one client stops reading early", async () => {
    const alice = await clientOf(agent, binding, "alice", token);
    const call = { ...callOf("wait", { milliseconds: 1000 }), configuration: AT_ONCE };
    const { id } = taskIn(await alice.sendMessage(call));
    const follow = async (most: number): Promise<readonly unknown[]> => {
      const events: unknown[] = [];
      for await (const { payload } of alice.resubscribeTask({ tenant: "", id })) {
        events.push(payload);
        if (events.length === most) break;
      }
      return events;
    };
    const [first, second, left] = await Promise.all([follow(9), follow(9), follow(1)]);
    expect(first).toEqual(second);
    expect(first.map((event) => Object(event).$case)).toEqual([
      "task",
      "artifactUpdate",
      "statusUpdate",
    ]);
    expect(left).toEqual(first.slice(0, 1));
  });
});
