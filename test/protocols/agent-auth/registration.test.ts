import { describe, expect, test } from "vitest";
import { objectIn } from "../../../src/client/received.js";
import {
  Driver,
  driver,
  grantsIn,
  grantWords,
  linked,
  newKey,
  proofOf,
  said,
  send,
} from "./driver.js";
import { bank } from "./served-bank.js";

describe("discovery", () => {
  test("serves the same document with all endpoints at /.well-known/ and at /api/auth/agent/", async () => {
    const { url, server } = await bank();
    expect(server.discoveryUrl).toBe(`${url}/.well-known/agent-configuration`);
    const { body, headers } = await send(server.discoveryUrl);
    expect(body).toEqual({
      version: "1.0-draft",
      provider_name: "Example Bank",
      description: "A bank that agents can use",
      issuer: url,
      default_location: `${url}/capability/execute`,
      algorithms: ["Ed25519"],
      modes: ["delegated", "autonomous"],
      approval_methods: ["ciba", "device_authorization"],
      endpoints: {
        register: "/agent/register",
        capabilities: "/capability/list",
        describe_capability: "/capability/describe",
        execute: "/capability/execute",
        request_capability: "/agent/request-capability",
        status: "/agent/status",
        reactivate: "/agent/reactivate",
        revoke: "/agent/revoke",
        revoke_host: "/host/revoke",
        rotate_key: "/agent/rotate-key",
        rotate_host_key: "/host/rotate-key",
        introspect: "/agent/introspect",
      },
    });
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    const other = await send(`${url}/api/auth/agent/agent-configuration`);
    expect(other.body).toEqual(body);
  });

  test("finds the server in /api/search by host, name and public capabilities", async () => {
    const { url, server } = await bank({ public: ["check_balance"] });
    const { body: document } = await send(server.discoveryUrl);
    const search = (query: string) => send(`${url}/api/search?${query}`);
    for (const intent of ["127.0.0.1", "bank", "balance"]) {
      const { body } = await search(`intent=${intent}&limit=5`);
      expect(body, intent).toEqual({ providers: [document], intent, count: 1 });
    }
    const none = { providers: [], intent: "transfers", count: 0 };
    expect((await search("intent=transfers")).body).toEqual(none);
    expect(said(await search("limit=5"))).toBe("400 invalid_request");
    expect(said(await search("intent=bank&limit=0"))).toBe("400 invalid_request");
  });
});

describe("registration", () => {
  test("an agent of an unlinked host waits until a user links the host and approves the agent", async () => {
    const home = await bank();
    const one = await driver(home);
    const answer = await one.register({ capabilities: ["check_balance"], reason: "a budget" });
    expect(said(answer)).toBe("200");
    const { approval, agent_capability_grants: _, agent_id: id, ...rest } = answer.body;
    const host_id = (await home.parties.hostByKey(one.host.thumbprint))?.id;
    expect(rest).toEqual({ host_id, name: "Assistant", mode: "delegated", status: "pending" });
    expect(grantWords(answer)).toEqual(["check_balance pending"]);
    const { user_code: code, ...how } = objectIn(approval);
    expect(code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    expect(how).toMatchObject({
      method: "device_authorization",
      verification_uri: `${home.url}/approvals/device`,
      verification_uri_complete: `${home.url}/approvals/device?user_code=${code}`,
      expires_in: 300,
      interval: 5,
    });

    expect(said(await one.asAgent("/agent/status"))).toBe("403 agent_pending");
    expect(said(await one.asHost("/capability/list"))).toBe("403 host_pending");
    const waiting = await one.asHost(`/agent/status?agent_id=${id}`);
    expect(waiting.body["status"]).toBe("pending");

    await one.decide(answer);
    const after = await one.asHost(`/agent/status?agent_id=${id}`);
    expect(after.body).toMatchObject({ status: "active", user_id: "alice", mode: "delegated" });
    expect(grantWords(after)).toEqual(["check_balance active"]);
  });

  test("an agent of a linked host gets the default capabilities at once", async () => {
    const home = await bank();
    const one = await linked(home);
    const { body } = await one.asAgent("/agent/status");
    expect(body).toMatchObject({ agent_id: one.agentId, status: "active", user_id: "alice" });
    for (const name of ["activated_at", "created_at", "expires_at"]) {
      expect(body[name], name).toMatch(/^2026-05-0[45]T\d\d:\d\d:00\.000Z$/);
    }
    const answer = await one.asAgent("/agent/status");
    expect(grantWords(answer)).toEqual(["check_balance active", "list_payees active"]);
    const first = grantsIn(answer).find((one) => one["capability"] === "check_balance");
    expect(first).toMatchObject({
      description: "Check the balance of a bank account",
      input: { required: ["account_id"] },
      output: { required: ["account_id", "balance"] },
    });
    expect(home.issuer.isAuthentic(String(first?.["token"]))).toBe(true);
    expect(first?.["token_expires_at"]).toMatch(/^2026-05-0[45]T\d\d:\d\d:\d\d/);
  });

  test("an agent that names no capabilities gets no grants", async () => {
    const home = await bank();
    const one = await linkedDriver(home);
    for (const capabilities of [undefined, []]) {
      const fresh = new Driver(home, one.host, await newKey());
      const answer = await fresh.register({ capabilities });
      expect(answer.body).toMatchObject({ status: "active", agent_capability_grants: [] });
      const refused = await fresh.execute("list_payees", {});
      expect(said(refused)).toBe("403 capability_not_granted");
    }
    const stranger = await driver(home);
    const waiting = await stranger.register({ capabilities: undefined });
    expect(waiting.body).toMatchObject({ status: "pending", agent_capability_grants: [] });
  });

  test("a pending agent that registers again keeps its mode", async () => {
    const home = await bank();
    const one = await driver(home);
    const first = await one.register();
    const again = await one.register({ mode: "autonomous" });
    expect(again.body).toMatchObject({
      agent_id: one.agentId,
      mode: "delegated",
      status: "pending",
    });
    expect(objectIn(again.body["approval"])["user_code"]).toBe(
      objectIn(first.body["approval"])["user_code"],
    );
    expect(await home.parties.hostByKey(one.host.thumbprint)).toMatchObject({ status: "pending" });
    home.clock.now += 10 * 60 * 1000;
    const late = await one.register({ mode: "autonomous" });
    expect(late.body).toMatchObject({ agent_id: one.agentId, mode: "delegated" });
    await one.decide(late);
    expect((await one.asAgent("/agent/status")).body["status"]).toBe("active");
  });

  test("a denial ends the agent but not its host; an approval without grants makes the agent active", async () => {
    const home = await bank();
    const one = await driver(home);
    await one.decide(await one.register(), "deny", { reason: "who are you?" });
    const denied = await one.asHost(`/agent/status?agent_id=${one.agentId}`);
    expect(denied.body["status"]).toBe("rejected");
    expect(await home.parties.hostByKey(one.host.thumbprint)).toMatchObject({ status: "pending" });
    expect(said(await one.register())).toBe("409 agent_exists");
    const second = new Driver(home, one.host, await newKey());
    const asked = await second.register({ capabilities: [] });
    await second.decide(asked);
    const status = await second.asAgent("/agent/status");
    expect(status.body).toMatchObject({ status: "active", agent_capability_grants: [] });
  });

  test("a host cannot register a key again, even after the agent of that key has ended", async () => {
    const home = await bank();
    const revoked = await linked(home);
    expect(said(await revoked.asHost("/agent/revoke", { agent_id: revoked.agentId }))).toBe("200");
    const claimed = await driver(home);
    expect(said(await claimed.register({ mode: "autonomous" }))).toBe("200");
    await claimed.decide(await claimed.asAgent("/agent/claim", {}));
    const active = await linked(home);
    const expired = await linked(home);
    home.clock.now += 3_600_000;
    for (const one of [revoked, claimed, active, expired]) {
      expect(said(await one.register())).toBe("409 agent_exists");
    }
    // Another host can register an agent with the same key.
    const other = await linked(home);
    expect(said(await new Driver(home, other.host, revoked.agent).register())).toBe("200");
  });

  test("an agent that asks for more than the default capabilities stays pending until the user decides", async () => {
    const home = await bank();
    const one = await driver(home);
    await linkedHost(one, home);
    const answer = await one.register({ capabilities: ["check_balance", "transfer_funds"] });
    expect(answer.body["status"]).toBe("pending");
    expect(grantWords(answer)).toEqual(["check_balance active", "transfer_funds pending"]);
    await one.decide(answer, "deny", { reason: "not today" });
    expect(said(await one.asAgent("/agent/status"))).toBe("403 agent_rejected");
  });

  test("an autonomous agent gets the default capabilities, and a reason why each other capability is denied", async () => {
    const home = await bank();
    const one = await driver(home);
    const body = { mode: "autonomous", capabilities: ["check_balance", "transfer_funds"] };
    const answer = await one.register(body);
    expect(answer.body).toMatchObject({ status: "active", mode: "autonomous" });
    expect(grantWords(answer)).toEqual(["check_balance active", "transfer_funds denied"]);
    const denied = grantsIn(answer).find(({ status }) => status === "denied");
    expect(denied?.["reason"]).toMatch(/autonomous/);
  });

  test("registering an agent key again gets 409, and registering an autonomous agent on a linked host gets 400", async () => {
    const home = await bank();
    const one = await linked(home);
    expect(said(await one.register())).toBe("409 agent_exists");
    const two = await driver(home);
    await linkedHost(two, home);
    expect(said(await two.register({ mode: "autonomous" }))).toBe("400 unsupported_mode");
  });

  test("the number of new unlinked hosts in an hour is limited, even if the hosts revoke themselves", async () => {
    const home = await bank({ settings: { bounds: { pendingHosts: 2 } } });
    const asked = async (): Promise<string> => {
      const one = await driver(home);
      const answer = await one.register({ mode: "autonomous" });
      if (answer.status === 200) expect(said(await one.asHost("/host/revoke", {}))).toBe("200");
      return said(answer);
    };
    expect([await asked(), await asked(), await asked()]).toEqual([
      "200",
      "200",
      "429 rate_limited",
    ]);
    home.clock.now += 60 * 60 * 1000;
    expect(await asked()).toBe("200");
  });

  test("the number of a host's new agents in an hour is limited, even if the agents are revoked at once", async () => {
    const home = await bank({ settings: { bounds: { agentsPerHost: 2 } } });
    const host = await newKey();
    const asked = async (): Promise<string> => {
      const one = new Driver(home, host, await newKey());
      const answer = await one.register({ mode: "autonomous" });
      if (answer.status === 200) expect(said(await one.asAgent("/agent/revoke", {}))).toBe("200");
      return said(answer);
    };
    expect([await asked(), await asked(), await asked()]).toEqual([
      "200",
      "200",
      "403 limit_exceeded",
    ]);
    home.clock.now += 60 * 60 * 1000;
    expect(await asked()).toBe("200");
  });

  test("a host name with control characters is refused in the body, in the JWT and at enrolment", async () => {
    const home = await bank();
    const one = await driver(home);
    const name = "\u001b[2J\u001b[31mTrusted\u202e host";
    expect(said(await one.register({ host_name: name }))).toBe("400 invalid_request");
    const odd = { claims: { host_name: name } };
    expect(said(await one.register({}, { odd }))).toBe("400 invalid_request");
    const made = await home.parties.createHost({ principal: "alice" });
    const token = made.ok ? made.enrolmentToken : undefined;
    const enrol = async (called: string) =>
      said(
        await send(`${home.url}/host/enroll`, {
          json: {
            token,
            name: called,
            public_key: one.host.jwk,
            proof: await proofOf(home, one.host, "/host/enroll"),
          },
        }),
      );
    expect(await enrol(name)).toBe("400 invalid_request");
    expect(await home.parties.hostByKey(one.host.thumbprint)).toBeUndefined();
    expect(await enrol("Laptop")).toBe("200");
    const named = { claims: { host_name: "Desk" } };
    expect(said(await one.register({}, { odd: named }))).toBe("200");
    expect(await home.parties.hostByKey(one.host.thumbprint)).toMatchObject({ name: "Desk" });
  });

  test("a registration repeated with its idempotency key gets the same answer; another registration with that key is refused", async () => {
    const home = await bank();
    const one = await driver(home);
    const headers = { "Idempotency-Key": "first" };
    const first = await one.register({}, { headers });
    const again = await one.register({}, { headers });
    expect(again.body).toEqual(first.body);
    const other = await one.register({ name: "Other" }, { headers });
    expect(said(other)).toBe("400 invalid_request");
    const odd = await one.register({}, { headers: { "Idempotency-Key": "two words" } });
    expect(said(odd)).toBe("400 invalid_request");
  });

  test("a malformed registration is refused, and the refusal is recorded", async () => {
    const home = await bank();
    const one = await linkedDriver(home);
    for (const [what, body, expected] of BAD) {
      expect(said(await one.register(body)), what).toBe(expected);
      const [last] = (await home.events()).slice(-1);
      expect(last, what).toMatchObject({ decision: "refused", codes: [expected.slice(4)] });
    }
  });

  test("a refusal names the unknown capabilities and the unknown operators of the registration", async () => {
    const home = await bank();
    const one = await linkedDriver(home);
    const unknown = await one.register({ capabilities: ["check_balance", "fly"] });
    expect(unknown.body["invalid_capabilities"]).toEqual(["fly"]);
    const operator = await one.register(limited({ maximum: 5, const: 1 }));
    expect(operator.body["unknown_operators"]).toEqual(["maximum", "const"]);
  });
});

const BAD: readonly (readonly [what: string, body: object, expected: string])[] = [
  ["no name", { name: "" }, "400 invalid_request"],
  ["a name that is no text", { name: 7 }, "400 invalid_request"],
  ["a name with an override of its direction", { name: "\u202eecila" }, "400 invalid_request"],
  ["a name that is too long", { name: "x".repeat(201) }, "400 invalid_request"],
  ["a mode that there is not", { mode: "royal" }, "400 unsupported_mode"],
  ["a mode that is no text", { mode: 1 }, "400 invalid_request"],
  ["capabilities that are no array", { capabilities: "all" }, "400 invalid_request"],
  ["a capability twice", { capabilities: ["a", "a"] }, "400 invalid_request"],
  ["an unknown capability", { capabilities: ["fly"] }, "400 invalid_capabilities"],
  ["an odd name", { capabilities: ["Check Balance"] }, "400 invalid_capabilities"],
  ["a path for a name", { capabilities: ["../check_balance"] }, "400 invalid_capabilities"],
  ["constraints that are no object", capability({ constraints: 5 }), "400 invalid_request"],
  ["an unknown operator", limited({ maximum: 5 }), "400 unknown_constraint_operator"],
  ["a value beside operators", limited({ eq: 5, max: 9 }), "400 unknown_constraint_operator"],
  ["an operand of a wrong type", limited({ max: "5" }), "400 invalid_request"],
  ["nothing left", limited({ min: 9, max: 5 }), "400 invalid_request"],
];

function capability(more: object): { capabilities: object[] } {
  return { capabilities: [{ name: "transfer_funds", ...more }] };
}

function limited(amount: object): { capabilities: object[] } {
  return capability({ constraints: { amount } });
}

async function linkedHost(
  one: Awaited<ReturnType<typeof driver>>,
  { parties }: Awaited<ReturnType<typeof bank>>,
) {
  const { jwk, thumbprint } = one.host;
  const { kty = "", crv = "", x = "" } = jwk;
  await parties.createHost({ principal: "alice", key: { key: { kty, crv, x }, thumbprint } });
}

async function linkedDriver(home: Awaited<ReturnType<typeof bank>>) {
  const one = await driver(home);
  await linkedHost(one, home);
  return one;
}
