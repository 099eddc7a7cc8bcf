import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { attenuate } from "../../../src/index.js";
import {
  createCapabilityClient,
  EXTENSION_URI,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  type Answer,
  authorized,
  callOf,
  clientOf,
  failureOf,
  quietConsole,
  request,
  rpc,
  send,
  taskIn,
  textAt,
} from "./callers.js";

// A capability in a place that the method does not read is never ignored. If the agent ignored it where ambient
// authority is accepted, the call would run without limits.

let prefer: TestAgent;
let required: TestAgent;
/** A revoked token of each agent. */
const spent = new Map<TestAgent, string>();

beforeAll(async () => {
  quietConsole();
  [prefer, required] = await Promise.all([
    startAgent({ mode: "prefer", pushOrigins: ["http://127.0.0.1:9"] }),
    startAgent({ pushOrigins: ["http://127.0.0.1:9"] }),
  ]);
  for (const agent of [prefer, required]) {
    const client = await clientOf(agent, "JSON-RPC", "alice");
    const { token } = await request(client, { grants: ["work:do"] });
    const hop = attenuate(token, { purpose: "none is left" });
    const child = hop.ok ? hop.token : "";
    await createCapabilityClient(client).revoke(child);
    spent.set(agent, child);
  }
});
afterAll(() => Promise.all([prefer.remove(), required.remove()]));

type Headers = { readonly [name: string]: string };

/** The parts of a request that both bindings have: parameters, headers and query. */
interface Tried {
  readonly params?: { readonly [name: string]: Json };
  readonly message?: { readonly [name: string]: Json };
  readonly part?: { readonly [name: string]: Json };
  readonly headers?: Headers;
  readonly query?: string;
}

const CALL = { skill: "wait", arguments: { milliseconds: 0 } };

function paramsOf({ params = {}, message = {}, part = {} }: Tried, data: Json = CALL): object {
  return {
    message: {
      messageId: crypto.randomUUID(),
      role: "ROLE_USER",
      parts: [{ data, ...part }],
      ...message,
    },
    ...params,
  };
}

function post(url: string, body: Json | object, headers: Headers = {}): Promise<Answer> {
  return send(url, {
    method: "POST",
    headers: { ...authorized("alice"), "A2A-Extensions": EXTENSION_URI, ...headers },
    body: JSON.stringify(body),
  });
}

function byRpc(agent: TestAgent, method: string, params: object, tried: Tried = {}) {
  const body = { jsonrpc: "2.0", id: 7, method, params };
  return post(`${agent.server.rpcUrl}${tried.query ?? ""}`, body, tried.headers);
}

function byRest(agent: TestAgent, tried: Tried, verb = "send"): Promise<Answer> {
  const url = `${agent.server.restUrl}/message:${verb}${tried.query ?? ""}`;
  return post(url, paramsOf(tried), tried.headers);
}

/** Returns the reason of an error in either binding; empty if there is no error. */
function reasonOf({ body, text }: Answer): string {
  return /"reason":"(\w+)"/.exec(text)?.[1] ?? (JSON.stringify(body).includes("error") ? text : "");
}

const ID = "cap_AAAAAAAAAAAAAAAA";
const LIST = [{ token: "garbage" }];
const NAMED: readonly (readonly [about: string, tried: Tried])[] = [
  ["params.capabilities", { params: { capabilities: LIST } }],
  ["params.capabilities that is empty", { params: { capabilities: [] } }],
  ["params.capabilities that is null", { params: { capabilities: null } }],
  ["params.capabilityId", { params: { capabilityId: ID } }],
  ["params.capability_id", { params: { capability_id: ID } }],
  ["params.capabilityID", { params: { capabilityID: ID } }],
  ["params.capability", { params: { capability: ID } }],
  ["params.CAPABILITIES", { params: { CAPABILITIES: LIST } }],
  ["params.attenuations", { params: { attenuations: {} } }],
  ["params.token", { params: { token: "garbage" } }],
  ["params.tokens", { params: { tokens: ["garbage"] } }],
  ["the request's metadata", { params: { metadata: { capabilities: LIST } } }],
  ["an id in the request's metadata", { params: { metadata: { capabilityId: ID } } }],
  ["a token in the request's metadata", { params: { metadata: { token: "garbage" } } }],
  ["attenuations in metadata", { params: { metadata: { attenuations: {} } } }],
  [
    "the extension's URI in another letter case",
    { params: { metadata: { "URN:proviso:A2A:capabilities:1": {} } } },
  ],
  [
    "the URI of another version",
    { params: { metadata: { "urn:proviso:a2a:capabilities:2": {} } } },
  ],
  ["a property of the message", { message: { capabilities: LIST } }],
  ["a token of the message", { message: { token: "garbage" } }],
  ["the message's metadata", { message: { metadata: { capabilities: LIST } } }],
  ["an id in the message's metadata", { message: { metadata: { capabilityId: ID } } }],
  ["the URI in the message's metadata", { message: { metadata: { [EXTENSION_URI]: {} } } }],
  ["a property of the part", { part: { token: "garbage" } }],
  ["the part's metadata", { part: { metadata: { token: "garbage" } } }],
  ["an id in the part's metadata", { part: { metadata: { capability_id: ID } } }],
  ["the URI in the part's metadata", { part: { metadata: { [EXTENSION_URI]: {} } } }],
  ["the configuration", { params: { configuration: { token: "garbage" } } }],
  [
    "a push configuration",
    { params: { configuration: { taskPushNotificationConfig: { capabilityId: ID } } } },
  ],
  ["a query", { query: "?token=garbage" }],
  [
    "a query parameter with an index",
    { query: "?x=1&capabilities%5B0%5D=a&capabilities%5B1%5D=b" },
  ],
  ["a query parameter with a dotted name", { query: "?capabilities.token=garbage" }],
  ["a query parameter given twice", { query: "?capabilityId=&capabilityId=" }],
  ["a query parameter with an escaped name", { query: "?%74oken=garbage" }],
  ["a header", { headers: { Token: "garbage" } }],
  ["a header with X-", { headers: { "X-Capability-Id": ID } }],
  ["a header in capitals", { headers: { CAPABILITIES: "garbage" } }],
  ["the misspelt header Proviso-Capabilities", { headers: { "Proviso-Capabilities": "garbage" } }],
  ["the unknown header Proviso-Token", { headers: { "Proviso-Token": "garbage" } }],
];

describe.each(["prefer", "require"] as const)(
  "in mode %s, a capability in a place that the method does not read",
  (mode) => {
    const own = (): TestAgent => (mode === "prefer" ? prefer : required);

    test.each(NAMED)("is refused over each binding: %s", async (_, tried) => {
      const agent = own();
      const before = agent.ran.length;
      for (const answer of [
        await byRpc(agent, "SendMessage", paramsOf(tried), tried),
        await byRpc(agent, "SendStreamingMessage", paramsOf(tried), tried),
        await byRest(agent, tried),
        await byRest(agent, tried, "stream"),
      ]) {
        expect(reasonOf(answer)).toBe("invalid_request");
        expect(answer.text).toContain("is not read as a capability");
        expect(answer.text).not.toContain("garbage");
      }
      expect(agent.ran.length).toBe(before);
    });

    test.each<[string, (token: string) => Tried]>([
      ["a property of any name", (token) => ({ params: { licence: { key: [token] } } })],
      ["any metadata", (token) => ({ params: { metadata: { "urn:x": { a: [{ b: token }] } } } })],
      ["metadata that is a string", (token) => ({ params: { metadata: token } })],
      ["metadata that is an array", (token) => ({ params: { metadata: [token] } })],
      ["the name of a property", (token) => ({ params: { metadata: { [token]: 1 } } })],
      ["the message's metadata", (token) => ({ message: { metadata: { auth: token } } })],
      ["a property of the message", (token) => ({ message: { bearer: `Bearer ${token}` } })],
      ["the message's id", (token) => ({ message: { messageId: token } })],
      ["the context's id", (token) => ({ message: { contextId: token } })],
      ["the task's id", (token) => ({ message: { taskId: token } })],
      ["references", (token) => ({ message: { referenceTaskIds: ["x", token] } })],
      ["extensions", (token) => ({ message: { extensions: [token] } })],
      ["the part's metadata", (token) => ({ part: { metadata: { note: `use ${token}!` } } })],
      ["a part's file name", (token) => ({ part: { filename: token } })],
      [
        "a push configuration",
        (token) => ({
          params: {
            configuration: { taskPushNotificationConfig: { url: "http://127.0.0.1:9/", token } },
          },
        }),
      ],
      ["a query", (token) => ({ query: `?key=${token}` })],
      ["a header", (token) => ({ headers: { "X-Api-Key": token } })],
      ["a cookie", (token) => ({ headers: { Cookie: `a=b; session=${token}` } })],
    ])("is refused even if it is a revoked token: %s", async (_, place) => {
      const agent = own();
      const tried = place(spent.get(agent) ?? "");
      const before = agent.ran.length;
      for (const answer of [
        await byRpc(agent, "SendMessage", paramsOf(tried), tried),
        await byRest(agent, tried),
      ]) {
        expect(reasonOf(answer)).toBe("invalid_request");
        expect(answer.text).toContain("must not hold a token");
        expect(answer.text).not.toContain(spent.get(agent));
      }
      expect(agent.ran.length).toBe(before);
    });

    test.each<[string, object]>([
      ["GetTask", { id: "x", metadata: { [EXTENSION_URI]: { capabilities: LIST } } }],
      ["GetTask", { id: "x", token: "garbage" }],
      ["ListTasks", { capabilities: LIST }],
      ["SubscribeToTask", { id: "x", metadata: { capabilityId: ID } }],
      ["CancelTask", { id: "x", capabilityId: ID }],
      ["CancelTask", { id: "x", metadata: { token: "garbage" } }],
      ["CreateTaskPushNotificationConfig", { taskId: "x", capabilities: LIST }],
      ["GetTaskPushNotificationConfig", { taskId: "x", id: "y", token: "garbage" }],
      ["ListTaskPushNotificationConfigs", { taskId: "x", token: "garbage" }],
      ["DeleteTaskPushNotificationConfig", { taskId: "x", id: "y", token: "garbage" }],
      ["GetExtendedAgentCard", { token: "garbage" }],
      ["a2a/capabilities/request", { grants: ["work:do"], token: "garbage" }],
      ["a2a/capabilities/attenuate", { token: "garbage", capabilities: LIST, constraints: {} }],
      ["a2a/capabilities/revoke", { token: "garbage", attenuations: {} }],
      ["a2a/capabilities/introspect", { token: "garbage", metadata: { [EXTENSION_URI]: {} } }],
      ["a2a/skill/invoke", { ...CALL, metadata: { token: "garbage" } }],
      ["a2a/skill/invoke", { ...CALL, attenuations: {} }],
      ["a2a/task/send", { message: { parts: [], token: "garbage" } }],
    ])("is refused by %s with the params %j", async (method, params) => {
      const answer = await byRpc(own(), method, params);
      expect(reasonOf(answer)).toBe("invalid_request");
      expect(answer.text).toContain("is not read as a capability");
    });

    test("is refused beside the params of a JSON-RPC request", async () => {
      const body = { jsonrpc: "2.0", id: 7, method: "SendMessage", params: paramsOf({}) };
      for (const more of [
        { token: "x" },
        { metadata: { [EXTENSION_URI]: { capabilities: LIST } } },
      ]) {
        const answer = await post(own().server.rpcUrl, { ...body, ...more });
        expect(reasonOf(answer)).toBe("invalid_request");
      }
    });

    test("is refused if the property's name is escaped or given twice", async () => {
      const text = JSON.stringify({
        jsonrpc: "2.0",
        id: 7,
        method: "SendMessage",
        params: paramsOf({}),
      });
      for (const more of ['"\\u0074oken":"x"', '"token":1,"token":2', '"__proto__":{},"token":1']) {
        const answer = await send(own().server.rpcUrl, {
          method: "POST",
          headers: authorized("alice"),
          body: text.replace('"params":{', `"params":{${more},`),
        });
        expect(reasonOf(answer)).toBe("invalid_request");
      }
    });

    test("is refused over HTTP+JSON if the method reads only the header", async () => {
      const { restUrl } = own().server;
      const token = spent.get(own()) ?? "";
      const inMetadata = { metadata: { [EXTENSION_URI]: { capabilities: LIST } } };
      const get = { headers: authorized("alice") };
      for (const answer of [
        await post(`${restUrl}/tasks/x:cancel`, inMetadata),
        await post(`${restUrl}/TASKS/x:CANCEL/`, inMetadata),
        await post(`${restUrl}/tasks/x:subscribe`, inMetadata),
        await post(`${restUrl}/tasks/x/pushNotificationConfigs`, { capabilityId: ID }),
        await post(`${restUrl}/tenant/message:send`, paramsOf({ params: { token: "x" } })),
        await send(`${restUrl}/tasks/x?capability_id=${ID}`, get),
        await send(`${restUrl}/tasks?token=x&token=y`, get),
        await send(`${restUrl}/tasks/${token}`, get),
        await send(`${restUrl}/tasks/${token.replace("A", "%41")}`, get),
        await send(`${restUrl}/tasks/x/pushNotificationConfigs/${token}`, get),
      ]) {
        expect(answer.status).toBe(400);
        expect(reasonOf(answer)).toBe("invalid_request");
      }
    });

    test("is refused by capability methods, which read only their own parameters", async () => {
      const agent = own();
      const { token } = await request(await clientOf(agent, "JSON-RPC", "alice"), {
        grants: ["work:do"],
      });
      for (const binding of ["JSON-RPC", "HTTP+JSON"] as const) {
        const client = await clientOf(agent, binding, "alice");
        expect((await createCapabilityClient(client).introspect(token)).active).toBe(true);
        const holder = createCapabilityClient(await withCapability(client, token));
        for (const asked of [holder.introspect(token), holder.request({ grants: ["work:do"] })]) {
          expect(String(await failureOf(asked))).toContain("is not read as a capability");
        }
      }
      const header = { headers: { "Proviso-Capability": token } };
      const params = { grants: ["work:do"] };
      expect(reasonOf(await byRpc(agent, "a2a/capabilities/request", params, header))).toBe(
        "invalid_request",
      );
      // The agent stores a message with words, so it refuses a token beside them.
      const method = { method: "a2a/capabilities/revoke", params: { token, capabilities: LIST } };
      const answer = await byRpc(agent, "SendMessage", paramsOf({}, method));
      expect(answer.text).toContain("is not read as a capability");
      const hidden = paramsOf(
        { part: { text: "do something" } },
        {
          method: "a2a/capabilities/revoke",
          params: { token },
        },
      );
      expect((await byRpc(agent, "SendMessage", hidden)).text).toContain("must not hold a token");
    });

    test("is refused in strings that the ledger would record", async () => {
      const agent = own();
      const client = await clientOf(agent, "JSON-RPC", "alice");
      const { token } = await request(client, { grants: ["work:do"] });
      const kept = spent.get(agent) ?? "";
      for (const [method, params] of [
        ["a2a/capabilities/request", { grants: ["work:do"], purpose: `as ${kept} says` }],
        ["a2a/capabilities/revoke", { token, reason: kept }],
        ["a2a/skill/invoke", { skill: "wait", arguments: { milliseconds: 0, x: kept }, token }],
        ["a2a/skill/invoke", { skill: kept, arguments: {}, token }],
      ] as const) {
        expect((await byRpc(agent, method, params)).text).toContain("must not hold a token");
      }
    });
  },
);

describe("the search for misplaced capabilities", () => {
  test("accepts the token of a push configuration", async () => {
    const alice = await clientOf(prefer, "JSON-RPC", "alice");
    const known = { serviceParameters: { "A2A-Extensions": EXTENSION_URI } };
    const { id } = taskIn(await alice.sendMessage(callOf("wait", { milliseconds: 0 }), known));
    const config = { url: "http://127.0.0.1:9/x", token: "the-receiver's-own" };
    const made = await rpc(prefer, "alice", "CreateTaskPushNotificationConfig", {
      taskId: id,
      ...config,
    });
    expect(textAt(made.body, "result", "token")).toBe(config.token);
    const overRest = await post(
      `${prefer.server.restUrl}/tasks/${id}/pushNotificationConfigs`,
      config,
    );
    expect(overRest.status).toBe(201);
    const sent = await byRpc(prefer, "SendMessage", {
      ...paramsOf({ params: { configuration: { taskPushNotificationConfig: config } } }),
    });
    expect(reasonOf(sent)).toBe("");
    const listed = await send(`${prefer.server.restUrl}/tasks?pageToken=&pageSize=2`, {
      headers: authorized("alice"),
    });
    expect(listed.status).toBe(200);
  });

  test('accepts arguments and text with names like "token", and metadata and tokens of other extensions', async () => {
    const foreign = "AgEPZG9jdW1lbnRzLWFnZW50";
    const { part, ...message } = {
      metadata: { "https://other.example/ext": { token: "x", capabilities: ["y"] } },
      part: { metadata: { note: "token, capabilityId" } },
    };
    const tried = { message, part, params: { metadata: { trace: foreign } } };
    expect(reasonOf(await byRpc(prefer, "SendMessage", paramsOf(tried)))).toBe("");
    const words = {
      role: "ROLE_USER",
      messageId: "words",
      parts: [{ text: "my token is secret" }],
    };
    expect(reasonOf(await byRpc(prefer, "SendMessage", { message: words }))).toBe("");
    const given = { token: "x", capabilities: [], capabilityId: ID };
    const data = { skill: "wait", arguments: { milliseconds: 0, ...given } };
    // These are arguments of a skill, so only the skill's own schema decides about them.
    expect(reasonOf(await byRpc(prefer, "SendMessage", paramsOf({}, data)))).toBe(
      "arguments_invalid",
    );
    const headers = { "X-Auth-Token": "x", "X-Amz-Security-Token": "y", Cookie: "token=z" };
    expect(reasonOf(await byRpc(prefer, "SendMessage", paramsOf({}), { headers }))).toBe("");
  });
});
