import { createServer, type RequestListener } from "node:http";
import { decodeJwt } from "jose";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  AgentAuthError,
  ClientError,
  createAgentAuthClient,
  generateKey,
} from "../../../src/protocols/agent-auth/client/index.js";
import { LOSSY, mistake } from "../../support/lossy.js";
import { linked } from "./driver.js";
import { type Bank, bank, DEFAULTS } from "./served-bank.js";

async function clientOf(home: Bank) {
  const hostKey = await generateKey();
  const clock = (): number => home.clock.now;
  return createAgentAuthClient({ provider: home.url, hostKey, clock });
}

/** Makes a host for Alice, enrols a client with the host's enrolment token, and returns the client. */
async function enrolled(home: Bank) {
  const client = await clientOf(home);
  const made = await home.parties.createHost({ principal: "alice" });
  await client.enroll((made.ok && made.enrolmentToken) || "");
  return client;
}

/** Starts a provider with arbitrary answers. */
async function provider(answers: { readonly [path: string]: object | string }): Promise<string> {
  const answer: RequestListener = (req, res) => {
    const [path = ""] = (req.url ?? "").split("?");
    const found = answers[path];
    const text = JSON.stringify(found ?? { error: "not_found" });
    res.writeHead(found === undefined ? 404 : 200, { "Content-Type": "application/json" });
    res.end(text.replaceAll("ORIGIN", origin));
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const origin = `http://127.0.0.1:${port}`;
  return origin;
}

describe.each(LOSSY)("%s passed to a method of the agent-auth client", (_, make) => {
  test("causes a TypeError that names the argument, and registers no agent", async () => {
    const home = await bank();
    const client = await enrolled(home);
    const agent = await client.register({ name: "helper" });
    const before = await home.parties.agentsOf(agent.state.hostId ?? "");
    const value = make();
    const name = "transfer";
    const places: readonly (readonly [string, () => unknown])[] = [
      ["options", () => client.register(value)],
      ["options.name", () => client.register({ name: value })],
      ["options.reason", () => client.register({ name: "it", reason: value })],
      ["capabilities", () => client.register({ name: "it", capabilities: value })],
      [
        "capabilities[0].constraints",
        () => client.register({ name: "it", capabilities: [{ name, constraints: value }] }),
      ],
      ["options", () => client.list(value)],
      ["agentId", () => client.status(value)],
      ["token", () => client.enroll(value)],
      ["capabilities", () => agent.request(value)],
      ["capabilities[0].constraints.a", () => agent.request([{ name, constraints: { a: value } }])],
      ["options", () => agent.request([name], value)],
      ["options.reason", () => agent.request([name], { reason: value })],
      ["options", () => agent.waitForApproval(value)],
      ["options", () => agent.list(value)],
      ["name", () => agent.describe(value)],
      ["capability", () => agent.execute(value)],
      ["given", () => agent.execute(name, value)],
      ["given.amount", () => agent.execute(name, { amount: value })],
      ["options", () => agent.execute(name, {}, value)],
      ["options.token", () => agent.execute(name, {}, { token: value })],
      ["capabilities", () => agent.revokeCapabilities(value)],
      ["capability", () => agent.narrow(value, {})],
    ];
    for (const [place, call] of places) {
      const message = await mistake(call);
      expect(message.startsWith(place), `${place}: ${message}`).toBe(true);
    }
    expect(await home.parties.agentsOf(agent.state.hostId ?? "")).toEqual(before);
  });
});

describe("the agent-auth client", () => {
  const document = {
    version: "1.0-draft",
    issuer: "ORIGIN",
    default_location: "ORIGIN/run",
    endpoints: { register: "ORIGIN/agent/register", status: "ORIGIN/agent/status" },
  };
  const meet = async (answers: { readonly [path: string]: object | string }) =>
    createAgentAuthClient({ provider: await provider(answers), hostKey: await generateKey() });

  test("reads the provider's configuration from /api/auth/agent if /.well-known has none", async () => {
    const other = await meet({ "/api/auth/agent/agent-configuration": document });
    expect(other.discovery.endpoints.get("register")).toMatch(/\/agent\/register$/);
    await expect(meet({})).rejects.toMatchObject({ code: "not_found" });
  });

  test.each([
    ["is malformed", { version: "1.0-draft" }, "answer_malformed"],
    ["names no endpoints", { ...document, endpoints: {} }, "answer_malformed"],
    ["has another version", { ...document, version: "2.0" }, "answer_malformed"],
    ["names another origin", { ...document, issuer: "https://x.example" }, "origin_foreign"],
    [
      "sends registrations to another origin",
      { ...document, endpoints: { register: "https://x.example/register" } },
      "origin_foreign",
    ],
  ])("refuses a provider whose configuration %s", async (_, found, code) => {
    const meeting = meet({ "/.well-known/agent-configuration": found });
    await expect(meeting).rejects.toMatchObject({ code });
  });

  test("fails with answer_malformed if the answer to a registration has no valid agent id", async () => {
    const client = await meet({
      "/.well-known/agent-configuration": document,
      "/agent/register": { agent_id: 7 },
    });
    const failure = await client.register({ name: "x" }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ClientError);
    expect(failure).toMatchObject({ code: "answer_malformed" });
  });

  test("binds a registration JWT to the provider's registration endpoint", async () => {
    const sent: string[] = [];
    const origin = await provider({
      "/.well-known/agent-configuration": document,
      "/agent/register": { agent_id: "agent_1", status: "active" },
    });
    const client = await createAgentAuthClient({
      provider: origin,
      hostKey: await generateKey(),
      fetch: (url, init) => {
        sent.push(new Headers(init?.headers).get("authorization") ?? "");
        return fetch(url, init);
      },
    });
    await client.register({ name: "x" });
    const claims = decodeJwt((sent.at(-1) ?? "").replace("Bearer ", ""));
    expect(claims).toMatchObject({ htm: "POST", htu: `${origin}/agent/register`, aud: origin });
  });

  test.each([
    ["data is returned", { data: [1] }, [1]],
    ["a result with the status completed is returned", { status: "completed", result: [1] }, [1]],
    [
      "the status pending is an error",
      { status: "pending", status_url: "ORIGIN/later" },
      /answers later/,
    ],
    ["the status failed is an error", { status: "failed", error: { message: "no" } }, /it failed/],
    ["a missing result is an error", {}, /has no "data"/],
  ])("reads the answer to an execution: %s", async (_, answer, expected) => {
    const client = await meet({
      "/.well-known/agent-configuration": {
        ...document,
        endpoints: { ...document.endpoints, describe_capability: "ORIGIN/describe" },
      },
      "/agent/register": { agent_id: "agent_1", status: "active" },
      "/agent/status": { agent_id: "agent_1", status: "active" },
      "/describe": { name: "list_payees" },
      "/run": answer,
    });
    const agent = await client.register({ name: "x" });
    const outcome = agent.execute("list_payees").catch((error: unknown) => error);
    if (!(expected instanceof RegExp)) return expect(await outcome).toEqual(expected);
    expect(await outcome).toMatchObject({ code: "answer_malformed" });
    expect(String(await outcome)).toMatch(expected);
  });

  test("refuses a provider on another machine with plain http", async () => {
    const hostKey = await generateKey();
    const meeting = createAgentAuthClient({ provider: "http://bank.example", hostKey });
    await expect(meeting).rejects.toMatchObject({ code: "address_insecure" });
  });

  test.each(["secret", {}, { kty: "OKP", crv: "Ed25519", x: "A" }])(
    "refuses the host key %j, which is not a private Ed25519 key",
    async (hostKey) => {
      // @ts-expect-error None is a private key.
      const meeting = createAgentAuthClient({ provider: "https://bank.example", hostKey });
      await expect(meeting).rejects.toThrow("options.hostKey: must be a private Ed25519 key");
    },
  );
});

describe("an agent of the client", () => {
  test("on an enrolled host gets the default capabilities at once, and can list capabilities", async () => {
    const home = await bank();
    const client = await enrolled(home);
    const agent = await client.register({
      name: "Clerk",
      capabilities: DEFAULTS,
      idempotencyKey: "one",
    });
    expect(agent.state.status).toBe("active");
    expect(await agent.execute("list_payees")).toEqual(["acc_A", "acc_B"]);
    const { capabilities, cursor } = await agent.list();
    expect(capabilities).toHaveLength(8);
    expect(cursor).toBeUndefined();
    await expect(agent.list({ cursor: "made up" })).rejects.toBeInstanceOf(AgentAuthError);
  });

  test("renews its token before the token expires", async () => {
    const home = await bank();
    const client = await enrolled(home);
    const agent = await client.register({ name: "Clerk", capabilities: DEFAULTS });
    await agent.status();
    const first = await agent.narrow("list_payees", {});
    home.clock.now += 14 * 60 * 1000 + 58_000;
    expect(await agent.execute("list_payees")).toEqual(["acc_A", "acc_B"]);
    const second = await agent.narrow("list_payees", {});
    expect(first.ok && second.ok && first.token !== second.token).toBe(true);
  });

  test("learns why a capability was not granted", async () => {
    const home = await bank();
    const client = await clientOf(home);
    const agent = await client.register({
      name: "Robot",
      mode: "autonomous",
      capabilities: ["transfer_funds"],
    });
    const [grant] = agent.state.grants;
    expect(grant).toMatchObject({ capability: "transfer_funds", status: "denied" });
    expect(grant?.reason).toMatch(/autonomous/);
    await expect(agent.narrow("transfer_funds", {})).rejects.toThrow(
      "transfer_funds: the server gave no token for it",
    );
  });

  test("waits for an approval until the approval expires or the signal aborts", async () => {
    const home = await bank();
    const client = await clientOf(home);
    const agent = await client.register({ name: "Clerk", capabilities: DEFAULTS });
    const stop = new AbortController();
    const waiting = agent.waitForApproval({ interval: 60, signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    home.clock.now += 301_000;
    const late = await agent.waitForApproval();
    expect(late.status).toBe("pending");
    expect(late.grants.map(({ status }) => status)).toEqual(["denied", "denied"]);
  });

  test("can be reactivated by its host after the agent has expired", async () => {
    const home = await bank();
    const client = await enrolled(home);
    const key = await generateKey();
    const agent = await client.register({ name: "Clerk", key });
    home.clock.now += 2 * 60 * 60 * 1000;
    await expect(agent.execute("list_payees")).rejects.toMatchObject({ code: "agent_expired" });
    expect((await client.reactivate(agent.id)).status).toBe("active");
    const same = await client.open(agent.id, key);
    expect(await same.execute("list_payees")).toEqual(["acc_A", "acc_B"]);
    await client.revokeAgent(agent.id);
    expect((await client.status(agent.id)).status).toBe("revoked");
  });

  test("fails with answer_malformed if a result does not fit the output schema", async () => {
    const home = await bank();
    const one = await linked(home);
    expect(one.agentId).not.toBe("");
    const described = {
      name: "list_payees",
      output: { type: "object", properties: { a: { pattern: "^(a+)+$" } }, required: ["a"] },
    };
    const origin = await provider({
      "/.well-known/agent-configuration": {
        version: "1.0-draft",
        issuer: "ORIGIN",
        default_location: "ORIGIN/run",
        endpoints: {
          register: "ORIGIN/register",
          status: "ORIGIN/status",
          describe_capability: "ORIGIN/describe",
        },
      },
      "/register": { agent_id: "agent_1", status: "active" },
      "/status": { agent_id: "agent_1", status: "active" },
      "/describe": described,
      "/run": { data: { b: 1 } },
    });
    const hostKey = await generateKey();
    const client = await createAgentAuthClient({ provider: origin, hostKey });
    const agent = await client.register({ name: "Clerk" });
    const failure = await agent.execute("list_payees").catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "ClientError", code: "answer_malformed" });
    await expect(agent.describe("other")).rejects.toMatchObject({ code: "answer_malformed" });
  });
});
