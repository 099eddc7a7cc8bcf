import { connect, createServer } from "node:net";
import { AgentCard } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../../src/bytes/json.js";
import {
  DISCOVERY_URI,
  type DiscoveryDenial,
  discoverChain,
  lintCard,
} from "../../../src/discovery/index.js";
import {
  AgentRefusedError,
  createCapabilityClient,
  UndeclaredBehaviourError,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import { card } from "../../discovery/cards.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { httpServer, sendText } from "../../support/loopback-servers.js";
import { callOf, clientOf, LISTING, request } from "./callers.js";

const TOKEN = "a-capability-that-must-not-leave";

/** Starts an agent behind a proxy, which records every byte sent to the agent. */
async function agentOf(parts: JsonObject = {}, headers: Readonly<Record<string, string>> = {}) {
  const answers: { card: JsonObject; result: Json; stream: readonly Json[] } = {
    card: {},
    stream: [],
    result: { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "done" }] } },
  };
  const inner = await httpServer((incoming, response) => {
    if (incoming.method === "GET") {
      const etag = `"${JSON.stringify(answers.card).length}"`;
      if (incoming.headers["if-none-match"] === etag) return void response.writeHead(304).end();
      return sendText(response, JSON.stringify(answers.card), { ...headers, ETag: etag });
    }
    incoming.setEncoding("utf8");
    let body = "";
    incoming.on("data", (chunk: string) => {
      body += chunk;
    });
    return void incoming.on("end", () => {
      const asked: Json = JSON.parse(body);
      const { id = null, method } = isJsonObject(asked) ? asked : {};
      const answer = (result: Json): string => JSON.stringify({ jsonrpc: "2.0", id, result });
      if (method !== "SendStreamingMessage") return sendText(response, answer(answers.result));
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      return response.end(answers.stream.map((one) => `data: ${answer(one)}\n\n`).join(""));
    });
  });
  let bytes = "";
  const proxy = createServer((socket) => {
    const onward = connect(inner.port, "127.0.0.1");
    socket.on("data", (chunk) => {
      bytes += chunk.toString("latin1");
    });
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) end.on("error", () => {});
    socket.on("close", () => onward.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  afterAll(() => void proxy.close());
  const address = proxy.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const url = `http://127.0.0.1:${port}`;
  const make = (more: JsonObject): JsonObject => {
    const interfaces = [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
    return card({ interfaces, ...more });
  };
  answers.card = make(parts);
  return {
    url,
    answers,
    make,
    sent: () => bytes,
    client: () => sdkClientFor(answers.card),
  };
}

async function sdkClientFor(document: JsonObject): Promise<Client> {
  const transports = [new JsonRpcTransportFactory()];
  const written = AgentCard.fromJSON(document);
  const cardResolver = { resolve: () => Promise.resolve(written) };
  return new ClientFactory({ transports, cardResolver }).createFromAgentCard(written);
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(() => undefined).catch((thrown: unknown) => thrown);
  if (error instanceof AgentRefusedError) return `refused ${error.code}`;
  if (error instanceof UndeclaredBehaviourError) return `undeclared ${error.code}`;
  return error === undefined ? "done" : String(error);
}

describe("the A2A version of a client's requests", () => {
  const WIDE = { top: { minProtocolVersion: "1.0", maxProtocolVersion: "1.2" } };
  const versions = (sent: string): readonly string[] =>
    sent
      .split("POST ")
      .slice(1)
      .map((request) => /a2a-version: (\S+)/i.exec(request)?.[1] ?? "none");

  test.each<[what: string, requirements: object | undefined, expected: string]>([
    ["the version of the transport by default", undefined, "1.0"],
    ["the version that the options require", { protocolVersion: "1.1" }, "1.1"],
    ["the required version without its patch number", { protocolVersion: "1.2.7" }, "1.2"],
  ])("is %s", async (_what, requirements, expected) => {
    const agent = await agentOf(WIDE);
    const client = await agent.client();
    const options = { card: agent.url, requirements };
    const holder = await withCapability(client, TOKEN, options);
    await codeOf(holder.sendMessage(callOf("s", {})));
    await codeOf(createCapabilityClient(client, options).invoke("s", {}, TOKEN));
    expect(versions(agent.sent())).toEqual([expected, expected]);
  });

  test("must be a version of an interface in the card, or the client refuses the agent before any call", async () => {
    const agent = await agentOf();
    const options = { card: agent.url, requirements: { protocolVersion: "1.1" } };
    const holder = await withCapability(await agent.client(), TOKEN, options);
    expect(await codeOf(holder.sendMessage(callOf("s", {})))).toBe("refused version_incompatible");
    expect(agent.sent()).not.toContain("POST");
  });

  test("must be a version that the client speaks, or creating the client fails", async () => {
    const client = await (await agentOf(WIDE)).client();
    const requirements = { protocolVersion: "0.3" };
    const message = /^requirements\.protocolVersion: the client speaks 1\.0, not 0\.3$/;
    expect(() => createCapabilityClient(client, { requirements })).toThrow(message);
    await expect(withCapability(client, TOKEN, { requirements })).rejects.toThrow(TypeError);
  });
});

describe("a client with a capability token", () => {
  const CONTRADICTION = { params: { minProtocolVersion: "2.0", maxProtocolVersion: "1.0" } };

  test.each<
    [what: string, parts: JsonObject, options: Parameters<typeof withCapability>[2], code: string]
  >([
    ["a minProtocolVersion above its maxProtocolVersion", CONTRADICTION, {}, "card_malformed"],
    [
      "an undeclared capability",
      {},
      { requirements: { capabilities: ["streaming_message"] } },
      "capability_undeclared",
    ],
    ["a missing grant", {}, { requirements: { grants: [{ grant: "a:b" }] } }, "grant_missing"],
    ["a missing signature", {}, { requirements: { requireSignature: true } }, "signature_missing"],
    [
      "an undeclared end-to-end capability",
      {},
      { requirements: { endToEnd: ["context_reuse"] } },
      "capability_undeclared",
    ],
  ])(
    "sends no call and no token to an agent whose card is refused for %s",
    async (_what, parts, options, code) => {
      const agent = await agentOf(parts);
      const client = await agent.client();
      for (const more of [options, { ...options, card: agent.url }]) {
        const holder = await withCapability(client, TOKEN, more);
        expect(await codeOf(holder.sendMessage(callOf("s", {})))).toBe(`refused ${code}`);
        expect(await codeOf(holder.getTask({ tenant: "", id: "t" }))).toBe(`refused ${code}`);
        const caller = createCapabilityClient(client, more);
        expect(await codeOf(caller.invoke("s", {}, TOKEN))).toBe(`refused ${code}`);
        expect(await codeOf(caller.request({ grants: ["a:b"] }))).toBe(`refused ${code}`);
      }
      expect(agent.sent()).not.toContain(TOKEN);
      expect(agent.sent()).not.toContain("POST");
    },
  );

  test("sends the token to an agent whose card is accepted", async () => {
    const agent = await agentOf();
    for (const options of [{}, { card: agent.url }]) {
      const holder = await withCapability(await agent.client(), TOKEN, options);
      expect(await codeOf(holder.sendMessage(callOf("s", {})))).toBe("done");
    }
    expect(agent.sent().split(TOKEN).length).toBe(3);
  });

  test("sends nothing to an interface that the judged card does not name", async () => {
    const agent = await agentOf();
    const other = await agentOf();
    const holder = await withCapability(await other.client(), TOKEN, { card: agent.url });
    expect(await codeOf(holder.sendMessage(callOf("s", {})))).toBe("refused interface_unsupported");
    expect(other.sent()).toBe("");
  });
});

describe("a card whose max-age has passed", () => {
  test("is fetched and judged again before the next token is sent", async () => {
    const agent = await agentOf(
      { capabilities: { pause_resume: true } },
      { "Cache-Control": "max-age=60" },
    );
    let now = 1_000_000;
    const holder = await withCapability(await agent.client(), TOKEN, {
      card: agent.url,
      requirements: { capabilities: ["pause_resume"] },
      discovery: { clock: () => now },
    });
    const send = (): Promise<string> => codeOf(holder.sendMessage(callOf("s", {})));
    expect(await send()).toBe("done");
    agent.answers.card = agent.make({});
    expect(await send()).toBe("done");
    now += 61_000;
    expect(await send()).toBe("refused capability_undeclared");
    expect(agent.sent().split(TOKEN).length).toBe(3);
    agent.answers.card = agent.make({ capabilities: { pause_resume: true } });
    now += 61_000;
    expect(await send()).toBe("done");
  });
});

describe("withCapability checks an agent's answers against its card", () => {
  const message = (more: JsonObject): JsonObject => ({
    message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "x" }], ...more },
  });
  const delegated = (url: string): JsonObject => ({ [DISCOVERY_URI]: { delegatedTo: url } });
  const task = (more: JsonObject): JsonObject => ({
    task: { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, ...more },
  });

  test.each<[what: string, result: JsonObject, expected: string]>([
    ["the absence of metadata is accepted", message({}), "done"],
    [
      "delegating to a declared agent is accepted",
      message({ metadata: delegated("https://b.example") }),
      "done",
    ],
    [
      "delegating to an undeclared agent is reported",
      message({ metadata: delegated("https://c.example") }),
      "undeclared delegate_undeclared",
    ],
    [
      "undeclared delegation in a task is reported",
      task({ metadata: delegated("https://c.example") }),
      "undeclared delegate_undeclared",
    ],
    [
      "undeclared delegation in an artifact is reported",
      task({
        artifacts: [
          { artifactId: "a", parts: [{ text: "x" }], metadata: delegated("https://c.example") },
        ],
      }),
      "undeclared delegate_undeclared",
    ],
    ["using a listed extension is accepted", message({ extensions: ["urn:x:listed"] }), "done"],
    [
      "using an unlisted extension is reported",
      message({ extensions: ["urn:x:other"] }),
      "undeclared capability_undeclared",
    ],
  ])("in an answer, %s", async (_what, result, expected) => {
    const params = { delegates: [{ url: "https://b.example" }] };
    const agent = await agentOf({ params, extensions: [{ uri: "urn:x:listed" }] });
    agent.answers.result = result;
    const holder = await withCapability(await agent.client(), TOKEN);
    expect(await codeOf(holder.sendMessage(callOf("s", {})))).toBe(expected);
  });

  test.each([
    [{ params: { capabilities: { streaming_message: true } } }, "done"],
    [{}, "undeclared capability_undeclared"],
  ])(
    "a partial message is reported unless the card declares streaming_message (card: %j)",
    async (parts, expected) => {
      const agent = await agentOf(parts);
      agent.answers.stream = [message({ metadata: { partial: true } })];
      const holder = await withCapability(await agent.client(), TOKEN);
      const read = async (): Promise<void> => {
        for await (const _event of holder.sendMessageStream(callOf("s", {})));
      };
      expect(await codeOf(read())).toBe(expected);
    },
  );

  test("with onDrift, undeclared behaviour is passed to onDrift, and the caller still gets the answer", async () => {
    const agent = await agentOf();
    agent.answers.result = message({ metadata: delegated("https://c.example") });
    const drifted: DiscoveryDenial[] = [];
    const holder = await withCapability(await agent.client(), TOKEN, {
      onDrift: (denial) => drifted.push(denial),
    });
    expect(await codeOf(holder.sendMessage(callOf("s", {})))).toBe("done");
    expect(drifted).toMatchObject([{ code: "delegate_undeclared", actual: "https://c.example" }]);
  });
});

test.each<[options: object, message: RegExp]>([
  [{ require: {} }, /options.require: unknown property; there are requirements/],
  [{ requirements: { capability: [] } }, /requirements.capability: unknown property/],
])(
  "createCapabilityClient refuses an unknown option, and the error names the option: %j",
  async (options, message) => {
    const client = await (await agentOf()).client();
    expect(() => createCapabilityClient(client, options)).toThrow(message);
  },
);

describe("a chain of agents that delegate to each other", () => {
  const pushOrigins = ["https://caller.example"];
  let last: TestAgent;
  let middle: TestAgent;
  let first: TestAgent;
  beforeAll(async () => {
    last = await startAgent({ pushOrigins, delegates: [] });
    middle = await startAgent({ pushOrigins, delegates: [{ url: last.server.url }] });
    first = await startAgent({ pushOrigins, delegates: [{ url: middle.server.url }] });
    return () => Promise.all([first, middle, last].map((one) => one.remove()));
  });
  const hostOf = ({ server }: TestAgent): string => new URL(server.url).host;
  const END_TO_END = { endToEnd: ["push_notifications", "context_reuse"] };

  test("passes discoverChain if every agent declares the required capabilities", async () => {
    const allowHosts = [middle, last].map(hostOf);
    const found = await discoverChain(first.server.url, END_TO_END, { allowHosts });
    expect(found).toMatchObject({ ok: true, warnings: [] });
    expect(found.ok && found.links.map(({ url }) => url)).toEqual(
      [first, middle, last].map(({ server }) => server.url),
    );
  });

  test("has cards in which lintCard finds no fault", async () => {
    for (const { server } of [first, last]) {
      const text = await (await fetch(server.cardUrl)).text();
      expect(await lintCard(text)).toEqual([]);
    }
  });

  test("gets no token if its last agent does not declare a required capability", async () => {
    const dropped = await startAgent({ delegates: [] });
    const before = await startAgent({ pushOrigins, delegates: [{ url: dropped.server.url }] });
    const url = before.server.url;
    const allowHosts = [hostOf(dropped)];
    const found = await discoverChain(url, END_TO_END, { allowHosts });
    expect(found).toMatchObject({
      ok: false,
      link: { index: 1, url: dropped.server.url },
      denials: [{ code: "capability_undeclared", expected: "push_notifications" }],
    });
    const client = await clientOf(before, "JSON-RPC", "alice");
    const options = { card: url, requirements: END_TO_END, discovery: { allowHosts } };
    const holder = createCapabilityClient(client, options);
    const ran = before.ran.length;
    expect(await codeOf(holder.invoke("list_documents", {}, TOKEN))).toBe(
      "refused capability_undeclared",
    );
    expect(before.ran.length).toBe(ran);
    await Promise.all([dropped.remove(), before.remove()]);
  });

  test("lists calls with the same contextId as tasks of one context, as the cards declare", async () => {
    const client = await clientOf(first, "JSON-RPC", "alice");
    const { token } = await request(client, {
      grants: ["documents:read"],
      resourceQuery: { collection: "reports" },
    });
    const holder = await withCapability(client, token);
    const ids: string[] = [];
    const contextId = "a-context-of-alice";
    for (const query of ["flat", "well"]) {
      const asked = callOf("search_documents", { query });
      if (asked.message !== undefined) asked.message.contextId = contextId;
      const answer = await holder.sendMessage(asked);
      if ("artifacts" in answer) ids.push(answer.id);
    }
    const { tasks } = await holder.listTasks({ ...LISTING, contextId });
    expect(tasks.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(ids.length).toBe(2);
  });

  test.each([
    ["params.history", { history: [] }, {}],
    ["params.message.messages", {}, { messages: [{ role: "ROLE_AGENT" }] }],
    ["params.message.message_history", {}, { message_history: {} }],
  ])("refuses the parameter %s, which the cards do not declare", async (where, params, message) => {
    const asked = JSON.parse(JSON.stringify(callOf("list_documents", {})));
    const whole = { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }], ...message };
    const response = await fetch(first.server.rpcUrl, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "A2A-Version": "1.0",
        Authorization: "Bearer development-token-of-alice",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { ...asked, message: whole, ...params },
      }),
    });
    const { error }: { error: { code: number; message: string } } = JSON.parse(
      await response.text(),
    );
    expect([error.code, error.message]).toEqual([
      -32602,
      expect.stringContaining(`leave ${where} out`),
    ]);
  });
});
