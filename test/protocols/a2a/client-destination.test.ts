import { AgentCard } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { exportJWK, generateKeyPair } from "jose";
import { describe, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../../src/bytes/json.js";
import { signCard } from "../../../src/discovery/index.js";
import {
  AgentRefusedError,
  createAgentFetch,
  createCapabilityClient,
  withAmbientAuthority,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import { card } from "../../discovery/cards.js";
import { httpServer, sendText } from "../../support/loopback-servers.js";

const TOKEN = "a-capability-that-must-not-leave";
const ACCESS = "an-access-token-that-must-not-leave";
type Options = NonNullable<Parameters<typeof withCapability>[2]>;

/** Starts an agent that gives these answers, and records the requests that it gets. */
async function agentOf(say: { card: JsonObject; extended?: JsonObject; redirect?: string }) {
  const seen: string[] = [];
  const server = await httpServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    if (request.method === "GET") return sendText(response, JSON.stringify(say.card));
    if (say.redirect !== undefined) {
      return void response.writeHead(307, { Location: say.redirect }).end();
    }
    request.setEncoding("utf8");
    let body = "";
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    return void request.on("end", () => {
      seen.push(body);
      const asked: Json = JSON.parse(body);
      const { id = null, method } = isJsonObject(asked) ? asked : {};
      const status = { state: "TASK_STATE_COMPLETED" };
      const isCard = method === "GetExtendedAgentCard";
      const result: Json = isCard ? (say.extended ?? null) : { id: "t", contextId: "c", status };
      sendText(response, JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  return { url: server.url, say, requests: server.requests, sent: () => seen.join("\n") };
}

function cardAt(...interfaces: readonly (readonly [url: string, binding?: string])[]): JsonObject {
  return card({
    interfaces: interfaces.map(([url, protocolBinding = "JSONRPC"]) => {
      return { url, protocolBinding, protocolVersion: "1.0" };
    }),
  });
}

function extensible(document: JsonObject): JsonObject {
  const { capabilities = {} } = document;
  const had = isJsonObject(capabilities) ? capabilities : {};
  return { ...document, capabilities: { ...had, extendedAgentCard: true } };
}

function clientFor(document: JsonObject, fetchImpl?: typeof fetch): Promise<Client> {
  const written = AgentCard.fromJSON(document);
  const made = fetchImpl ?? createAgentFetch({ accessToken: ACCESS });
  const transports = [new JsonRpcTransportFactory({ fetchImpl: made })];
  const cardResolver = { resolve: () => Promise.resolve(written) };
  return new ClientFactory({ transports, cardResolver }).createFromAgentCard(written);
}

async function codeOf(client: Client, options?: Options): Promise<string> {
  const call = async (): Promise<unknown> =>
    (await withCapability(client, TOKEN, options)).getTask({ tenant: "", id: "t" });
  const error: unknown = await call().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) return "called";
  return error instanceof AgentRefusedError ? error.code : String(error);
}

async function signed(document: JsonObject) {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const trusted = { ...(await exportJWK(publicKey)), kid: "good" };
  const genuine = await signCard(document, { key: privateKey, alg: "ES256", kid: "good" });
  const { signatures } = genuine;
  // Some signers sign the card without its empty properties; this signature is like theirs.
  const last = Array.isArray(signatures) ? signatures.slice(-1) : [];
  const options: Options = {
    requirements: { requireSignature: true },
    discovery: { trustedKeys: [trusted] },
  };
  return { genuine: { ...genuine, signatures: last }, options };
}

describe("an agent that serves another agent's card", () => {
  test.each([false, true])(
    "gets no token (client called getAgentCard before: %s)",
    async (asked) => {
      const good = await agentOf({ card: {} });
      const { genuine, options } = await signed(cardAt([`${good.url}/rpc`]));
      good.say.card = genuine;
      const evil = await agentOf({ card: {}, extended: genuine });
      const client = await clientFor(extensible(cardAt([`${evil.url}/rpc`])));
      if (asked) await client.getAgentCard();
      const own = asked ? "interface_unsupported" : "signature_missing";
      expect(await codeOf(client, options)).toBe(own);
      expect(await codeOf(client, { ...options, card: good.url })).toBe("interface_unsupported");
      expect(evil.sent()).not.toContain(TOKEN);
    },
  );
});

test("an agent whose card is refused gets no call and no access token", async () => {
  const evil = await agentOf({ card: {} });
  const document = extensible(cardAt([`${evil.url}/rpc`]));
  evil.say.card = document;
  const requirements = { capabilities: ["pause_resume"] };
  for (const options of [{ requirements }, { requirements, card: evil.url }]) {
    const client = await clientFor(document);
    expect(await codeOf(client, options)).toBe("capability_undeclared");
    const holder = createCapabilityClient(client, options);
    await expect(holder.request({ grants: ["g:r"] })).rejects.toThrow(AgentRefusedError);
    await expect(holder.invoke("s", {}, TOKEN)).rejects.toThrow(AgentRefusedError);
    const ambient = createCapabilityClient(await withAmbientAuthority(client), options);
    await expect(ambient.invoke("s", {})).rejects.toThrow(AgentRefusedError);
  }
  expect(evil.requests.every(({ method }) => method === "GET")).toBe(true);
  expect(evil.sent()).not.toContain(ACCESS);
});

describe("the interface to which a client sends tokens", () => {
  test.each(["JSONRPC", "jsonrpc"])(
    "is refused if the judged card does not list the interface (binding %s)",
    async (binding) => {
      const evil = await agentOf({ card: {} });
      const good = await agentOf({ card: {} });
      good.say.card = cardAt([`${good.url}/rpc`]);
      const client = await clientFor(cardAt([`${evil.url}/rpc`, binding]));
      expect(await codeOf(client, { card: good.url })).toBe("interface_unsupported");
      expect(evil.requests).toEqual([]);
    },
  );

  test("is refused if its own address is not allowed, even if another address in the card is allowed", async () => {
    const other = await agentOf({ card: {} });
    const agent = await agentOf({ card: {} });
    const document = cardAt(["https://8.8.8.8/rpc"], [`${other.url}/rpc`]);
    agent.say.card = document;
    const client = await clientFor(document);
    expect(await codeOf(client, { card: agent.url })).toBe("address_refused");
    expect(other.requests).toEqual([]);
    const discovery = { allowHosts: [new URL(other.url).host] };
    expect(await codeOf(client, { card: agent.url, discovery })).toBe("called");
  });

  test("is refused if the judged card lists the interface with an incompatible version", async () => {
    const other = await agentOf({ card: {} });
    const document = cardAt([`${other.url}/a`], [`${other.url}/b`]);
    const client = await clientFor(cardAt([`${other.url}/b`]));
    const [first, second] = Array.isArray(document["supportedInterfaces"])
      ? document["supportedInterfaces"]
      : [];
    const older = { ...(isJsonObject(second) ? second : {}), protocolVersion: "0.3" };
    other.say.card = { ...document, supportedInterfaces: [first ?? null, older] };
    expect(await codeOf(client, { card: other.url })).toBe("version_incompatible");
  });
});

describe("a client without options.card judges the address in its own card", () => {
  test.each([
    ["http://agent.example/rpc", "address_refused"],
    ["http://169.254.169.254/latest", "address_refused"],
    ["https://169.254.169.254/latest", "address_refused"],
    ["https://[fd00::1]/rpc", "address_refused"],
    ["https://user:secret@8.8.8.8/rpc", "card_malformed"],
    ["https://8.8.8.8/rpc", "called"],
    ["http://localhost:9/rpc", "called"],
  ])("the outcome of a call to %s is: %s", async (place, expected) => {
    let sent = 0;
    const fetchImpl: typeof fetch = async (_input, init) => {
      sent += 1;
      const { id }: { id: number } = JSON.parse(String(init?.body));
      const status = { state: "TASK_STATE_COMPLETED" };
      return Response.json({ jsonrpc: "2.0", id, result: { id: "t", contextId: "c", status } });
    };
    const client = await clientFor(cardAt([place]), fetchImpl);
    expect(await codeOf(client)).toBe(expected);
    expect(sent).toBe(expected === "called" ? 1 : 0);
  });

  test("a private address is refused unless allowHosts lists the address", async () => {
    const client = await clientFor(cardAt(["https://10.0.0.1/rpc"]), async () => {
      throw new Error("sent");
    });
    expect(await codeOf(client)).toBe("address_refused");
    expect(await codeOf(client, { discovery: { allowHosts: ["10.0.0.1:443"] } })).toContain("sent");
  });
});

test.each<[about: string, addresses: readonly string[], expected: string]>([
  ["only a public address", ["8.8.8.8"], "sent"],
  // The SDK resolves the name again, and may use either address.
  ["a public and a loopback address", ["8.8.8.8", "127.0.0.1"], "address_refused"],
  ["no address", [], "card_unreachable"],
])(
  "if the host name of an interface resolves to %s (%j), the outcome of a call is: %s",
  async (_, addresses, expected) => {
    const client = await clientFor(cardAt(["https://agent.example/rpc"]), async () => {
      throw new Error("sent");
    });
    const resolve = async () => addresses.map((address) => ({ address, family: 4 }));
    expect(await codeOf(client, { discovery: { resolve } })).toContain(expected);
  },
);

describe("createAgentFetch", () => {
  test("does not follow redirects", async () => {
    const other = await agentOf({ card: {} });
    const agent = await agentOf({ card: {}, redirect: `${other.url}/x` });
    agent.say.card = cardAt([`${agent.url}/rpc`]);
    const client = await clientFor(agent.say.card);
    expect(await codeOf(client, { card: agent.url })).toContain("redirects are not followed");
    expect(other.requests).toEqual([]);
    expect(agent.sent()).toContain(TOKEN);
  });

  test.each<[options: object, message: RegExp]>([
    [{ token: "x" }, /options.token: unknown property/],
    [{ accessToken: "" }, /options.accessToken: must be/],
    [{ fetch: "x" }, /options.fetch: must be/],
  ])(
    "refuses an unknown or wrong option, and the error names the option: %j",
    (options, message) => {
      expect(() => createAgentFetch(options)).toThrow(message);
    },
  );
});
