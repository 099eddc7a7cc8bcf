import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { FULL } from "../../support/size.js";
import { type Answer, at, quietConsole, send, textAt } from "./callers.js";
import { userMessage } from "./set-up.js";
import { type Reached, SIDES } from "./sides.js";

// Parameters of A2A's methods must have the protocol's types in both bindings.

const WORDS = [{ text: "say hi" }];

/** Calls a method over JSON-RPC. */
function overRpc({ rpcUrl, headers }: Reached, method: string, params: Json): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return send(rpcUrl, { method: "POST", headers, body });
}

const PATHS: { readonly [method: string]: readonly [verb: string, path: string] } = {
  SendMessage: ["POST", "/message:send"],
  SendStreamingMessage: ["POST", "/message:stream"],
  GetTask: ["GET", "/tasks/ID"],
  ListTasks: ["GET", "/tasks"],
  CreateTaskPushNotificationConfig: ["POST", "/tasks/ID/pushNotificationConfigs"],
};

/** Calls the same method over HTTP+JSON; the parameters of a GET are in the query. */
function overRest({ restUrl, headers }: Reached, method: string, params: JsonObject) {
  const [verb = "", path = ""] = PATHS[method] ?? [];
  const { id, taskId, ...others } = params;
  const url = `${restUrl}${path.replace("ID", String(id ?? taskId))}`;
  if (verb === "POST") {
    return send(url, { method: verb, headers, body: JSON.stringify({ ...others }) });
  }
  const fields = Object.entries(others).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  );
  return send(`${url}?${new URLSearchParams(fields)}`, { headers });
}

const NONE = "none";
const TIME = /must be a time with its zone \(RFC 3339\)/;
const COUNT = /must be a whole number, 0 or more$/;

/** Parameters that both bindings refuse, with the property that the error names. */
const WRONG: readonly (readonly [method: string, params: JsonObject, where: string, RegExp])[] = [
  ...[-1, 1.5, "abc", "1.5", "5abc", [1, 2], 2 ** 31].flatMap((historyLength) =>
    [
      ["GetTask", { id: NONE, historyLength }, "params.historyLength"] as const,
      ["ListTasks", { historyLength }, "params.historyLength"] as const,
    ].map((one) => [...one, COUNT] as const),
  ),
  ...[0, 101, 2.5, "many", "1e1"].map(
    (pageSize) =>
      [
        "ListTasks",
        { pageSize },
        "params.pageSize",
        /must be a whole number from 1 to 100$/,
      ] as const,
  ),
  ...[
    "2026-01-09T13:00:00",
    "2026-01-09",
    "soon",
    "2026-02-30T00:00:00Z",
    "2026-01-09T25:00:00Z",
  ].map(
    (after) =>
      ["ListTasks", { statusTimestampAfter: after }, "params.statusTimestampAfter", TIME] as const,
  ),
  ["ListTasks", { includeArtifacts: "yes" }, "params.includeArtifacts", /must be true or false$/],
  ["ListTasks", { includeArtifacts: 1 }, "params.includeArtifacts", /must be true or false$/],
  ["ListTasks", { status: "COMPLETED" }, "params.status", /must be the name of a task state$/],
  ["ListTasks", { status: 9 }, "params.status", /must be the name of a task state$/],
];

const message = userMessage(WORDS);
const configured = (configuration: JsonObject): JsonObject => ({ message, configuration });
const HEADER = /must be printable ASCII characters/;

/** Message bodies that both bindings refuse. */
const WRONG_BODIES: typeof WRONG = [
  ...(
    [
      [{ message: "hi" }, "params.message", /must be an object$/],
      [{ message: [] }, "params.message", /must be an object$/],
      [{ message, metadata: "x" }, "params.metadata", /must be an object$/],
      [{ message, metadata: [] }, "params.metadata", /must be an object$/],
      [{ message, configuration: [] }, "params.configuration", /must be an object$/],
      [configured({ historyLength: -1 }), "params.configuration.historyLength", COUNT],
      [configured({ history_length: true }), "params.configuration.history_length", COUNT],
      [
        configured({ returnImmediately: "false" }),
        ...(["params.configuration.returnImmediately", /must be true or false$/] as const),
      ],
      [
        configured({ acceptedOutputModes: "text/plain" }),
        ...(["params.configuration.acceptedOutputModes", /must be an array of strings$/] as const),
      ],
      [
        configured({ acceptedOutputModes: [1] }),
        ...(["params.configuration.acceptedOutputModes[0]", /must be a string$/] as const),
      ],
      ...(
        [
          [{ parts: {} }, "parts", /must be an array of parts$/],
          [{ parts: ["hi"] }, "parts[0]", /must be an object$/],
          [{ parts: [{ text: 7 }] }, "parts[0].text", /must be a string$/],
          [{ parts: [{ text: ["hi"] }] }, "parts[0].text", /must be a string$/],
          [{ parts: [{ raw: "no base64!" }] }, "parts[0].raw", /must be bytes in base64$/],
          [{ parts: [{ raw: [1, 2] }] }, "parts[0].raw", /must be bytes in base64$/],
          [{ parts: [{ text: "a", mediaType: 1 }] }, "parts[0].mediaType", /must be a string$/],
          [{ parts: [{ text: "a", metadata: [] }] }, "parts[0].metadata", /must be an object$/],
          [
            { parts: [{ text: "a", data: 1 }] },
            "parts[0]",
            /must have only one of text, raw, url, data$/,
          ],
          [{ role: "user" }, "role", /must be ROLE_USER or ROLE_AGENT$/],
          [{ role: true }, "role", /must be ROLE_USER or ROLE_AGENT$/],
          [{ contextId: 7 }, "contextId", /printable ASCII characters$/],
          [{ messageId: 7 }, "messageId", /printable characters$/],
          [{ extensions: "urn:x" }, "extensions", /must be an array of strings$/],
          [{ extensions: [null] }, "extensions[0]", /must be a string$/],
          [{ reference_task_ids: "x" }, "reference_task_ids", /must be an array of strings$/],
        ] as const
      ).map(
        ([more, where, what]) =>
          [{ message: { ...message, ...more } }, `params.message.${where}`, what] as const,
      ),
    ] as const
  ).flatMap(([params, where, what]) =>
    ["SendMessage", "SendStreamingMessage"].map((method) => [method, params, where, what] as const),
  ),
  ...(
    [
      [{ url: 7 }, "url", /must be a string$/],
      [{ token: "a\nb" }, "token", HEADER],
      [{ token: " a" }, "token", HEADER],
      [{ token: "tökén" }, "token", HEADER],
      [{ token: true }, "token", HEADER],
      [{ authentication: "Bearer x" }, "authentication", /must be an object$/],
      [{ authentication: { credentials: "x" } }, "authentication.scheme", /is required$/],
      [{ authentication: { scheme: "a b" } }, "authentication.scheme", /an authentication scheme/],
      [
        { authentication: { scheme: "Bearer", credentials: "a\u0000" } },
        ...(["authentication.credentials", HEADER] as const),
      ],
      [
        { authentication: { scheme: "Bearer", credentials: "a\r\nX-Other: b" } },
        ...(["authentication.credentials", HEADER] as const),
      ],
    ] as const
  ).flatMap(([config, where, what]) => {
    const own = { url: "http://a.example/", ...config };
    const task_push_notification_config = own;
    return [
      ["CreateTaskPushNotificationConfig", { taskId: NONE, ...own }, `params.${where}`, what],
      [
        "SendMessage",
        configured({ taskPushNotificationConfig: own }),
        ...([`params.configuration.taskPushNotificationConfig.${where}`, what] as const),
      ],
      [
        "SendMessage",
        configured({ task_push_notification_config }),
        ...([`params.configuration.task_push_notification_config.${where}`, what] as const),
      ],
    ] as const;
  }),
];

test.each(SIDES)(
  "%s refuses parameters of a wrong type over both bindings",
  async (side, start) => {
    quietConsole();
    const reached = await start();
    // A guarded agent reads parameters with the same code, so a quick run tries only some of them again.
    const some = FULL || side === SIDES[0]?.[0] ? 1 : 5;
    const all = [...WRONG, ...WRONG_BODIES];
    for (const [method, params, where, what] of all.filter((_, number) => number % some === 0)) {
      const about = JSON.stringify([method, params]);
      const rpc = await overRpc(reached, method, params);
      const error = at(rpc.body, "error");
      expect([at(error, "code"), at(error, "data", 0, "reason")], about).toEqual([
        -32602,
        "INVALID_PARAMS",
      ]);
      expect(textAt(error, "message"), about).toMatch(what);
      expect(textAt(error, "message").startsWith(`${where} `), about).toBe(true);
      const rest = await overRest(reached, method, params);
      expect([rest.status, at(rest.body, "error", "status")], about).toEqual([
        400,
        "INVALID_ARGUMENT",
      ]);
      expect(textAt(rest.body, "error", "message"), about).toMatch(what);
    }
  },
);

test.each(SIDES)(
  "%s accepts the types and spellings of parameters that A2A allows, over both bindings",
  async (_, start) => {
    quietConsole();
    const reached = await start();
    for (const params of [
      { historyLength: 0 },
      { historyLength: "5" },
      { pageSize: 100, pageToken: "" },
      { status: "TASK_STATE_COMPLETED" },
      { status: 3 },
      { includeArtifacts: true },
      { includeArtifacts: false },
      { statusTimestampAfter: "2026-01-09T13:00:00Z" },
      { statusTimestampAfter: "2024-02-29T13:00:00.123456+02:00" },
      { contextId: "none", unknown: [1] },
    ] as JsonObject[]) {
      const about = JSON.stringify(params);
      const rpc = await overRpc(reached, "ListTasks", params);
      expect(at(rpc.body, "result", "tasks"), about).toEqual([]);
      const rest = await overRest(reached, "ListTasks", params);
      expect([rest.status, at(rest.body, "tasks")], about).toEqual([200, []]);
    }
    for (const params of [
      { message: { ...message, messageId: "1", role: 1, metadata: null, extensions: [] } },
      {
        message: { ...message, messageId: "2", parts: [{ text: "say hi", raw: null, data: null }] },
      },
      { message: { ...message, messageId: "3" }, configuration: { historyLength: "1" } },
      { message: { ...message, messageId: "4" }, configuration: { return_immediately: false } },
    ] as { message: JsonObject; configuration?: JsonObject }[]) {
      const about = JSON.stringify(params);
      const rpc = await overRpc(reached, "SendMessage", params);
      expect(at(rpc.body, "error"), about).toBeNull();
      const again = {
        ...params,
        message: { ...params.message, messageId: `${about.length}-rest` },
      };
      expect((await overRest(reached, "SendMessage", again)).status, about).toBe(200);
    }
  },
);

const ENVELOPES: readonly (readonly [about: string, body: string, code: number])[] = [
  ...(["GetTask", "a2a/capabilities/introspect"] as const).flatMap((method) =>
    (
      [
        ["no version", { id: 1, method }],
        ["another version", { jsonrpc: "1.0", id: 1, method }],
        ["a version that is not a string", { jsonrpc: 2, id: 1, method }],
        ["an id that is an object", { jsonrpc: "2.0", id: {}, method }],
        ["an id that is an array", { jsonrpc: "2.0", id: [], method }],
        ["an id that is true", { jsonrpc: "2.0", id: true, method }],
        ["an id that is a fraction", { jsonrpc: "2.0", id: 1.5, method }],
        ["an id of many characters", { jsonrpc: "2.0", id: "x".repeat(129), method }],
      ] as const
    ).map(
      ([about, body]) =>
        [`${method}: ${about}`, JSON.stringify({ ...body, params: { id: "x" } }), -32600] as const,
    ),
  ),
  ...([undefined, 7, null, {}, ["GetTask"], ""] as const).map(
    (method) =>
      [
        `the method ${JSON.stringify(method)}`,
        JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} }),
        -32600,
      ] as const,
  ),
  ["an empty object", "{}", -32600],
  ["an array", '[{"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}]', -32600],
  ["an empty body", "", -32700],
  ["a body that is not JSON", "{", -32700],
];

test.each(SIDES)(
  "%s answers a body that is not a JSON-RPC request with an error whose id is null",
  async (_, start) => {
    quietConsole();
    const { rpcUrl, headers } = await start();
    for (const [about, body, code] of ENVELOPES) {
      const answer = await send(rpcUrl, { method: "POST", headers, body });
      expect([answer.status, answer.body], about).toMatchObject([
        200,
        { jsonrpc: "2.0", id: null, error: { code } },
      ]);
    }
  },
);

test.each(SIDES)(
  "if the id of a request is missing or null, %s answers with a result and the id null",
  async (_, start) => {
    quietConsole();
    const { rpcUrl, headers } = await start();
    for (const id of [undefined, null]) {
      const body = JSON.stringify({ jsonrpc: "2.0", id, method: "ListTasks", params: {} });
      const answer = await send(rpcUrl, { method: "POST", headers, body });
      expect(answer.body).toMatchObject({ id: null, result: { tasks: [] } });
    }
  },
);
