import { describe, expect, test } from "vitest";
import { objectsIn } from "../../../src/client/received.js";
import {
  Driver,
  driver,
  granted,
  grantsIn,
  grantWords,
  linked,
  newKey,
  type Odd,
  said,
  send,
} from "./driver.js";
import { type Bank, bank, REPORTS } from "./served-bank.js";

describe("a JWT narrowed to capabilities", () => {
  test.each([[["check_balance"]], [[]]])("cannot manage the agent: %j", async (capabilities) => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds"]);
    const odd: Odd = { claims: { capabilities } };
    const { jwk } = await newKey();
    for (const [path, body] of [
      ["/agent/rotate-key", { agent_id: one.agentId, public_key: jwk }],
      ["/agent/request-capability", { capabilities: ["list_payees"] }],
      ["/agent/claim", {}],
      ["/agent/revoke-capability", { capabilities: ["transfer_funds"] }],
      ["/agent/revoke", {}],
    ] as const) {
      expect([path, said(await one.asAgent(path, body, odd))]).toEqual([path, "403 unauthorized"]);
    }
    expect((await one.asAgent("/agent/status")).body["status"]).toBe("active");
  });
});

describe("revoking an agent", () => {
  test("by the agent itself ends its tokens and JWTs", async () => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds"]);
    const other = await linked(home);
    const foreign = await one.asAgent("/agent/revoke", { agent_id: other.agentId });
    expect(said(foreign)).toBe("403 unauthorized");
    const status = await one.asAgent(`/agent/status?agent_id=${other.agentId}`);
    expect(said(status)).toBe("403 unauthorized");
    const token = await one.token("check_balance");
    const answer = await one.asAgent("/agent/revoke", {});
    expect(answer.body).toEqual({ agent_id: one.agentId, status: "revoked" });
    expect(said(await one.asAgent("/agent/status"))).toBe("403 agent_revoked");
    const odd: Odd = { key: await newKey() };
    expect(said(await one.asAgent("/agent/status", undefined, odd))).toBe("401 invalid_jwt");
    const read = home.issuer.authorize(token, { grant: "accounts:read", operation: "balance" });
    expect(read.allowed || read.denials[0].code).toBe("revoked");
  });

  test("by its host can be repeated", async () => {
    const home = await bank();
    const one = await linked(home);
    const other = await linked(home);
    const revoke = (by: Driver, body: object) => by.asHost("/agent/revoke", body);
    expect(said(await revoke(other, { agent_id: one.agentId }))).toBe("403 unauthorized");
    expect(said(await revoke(one, { agent_id: "agent_x" }))).toBe("404 agent_not_found");
    expect(said(await revoke(one, {}))).toBe("400 invalid_request");
    for (const _ of [1, 2]) {
      const answer = await revoke(one, { agent_id: one.agentId });
      expect(answer.body).toEqual({ agent_id: one.agentId, status: "revoked" });
    }
    const body = { agent_id: one.agentId, capabilities: ["check_balance"] };
    const late = await one.asHost("/agent/revoke-capability", body);
    expect(said(late)).toBe("403 agent_revoked");
    expect(said(await one.register())).toBe("409 agent_exists");
  });

  test("can be limited to single grants with /agent/revoke-capability", async () => {
    const home = await bank();
    const one = await linked(home);
    const revoke = (capabilities: unknown) =>
      one.asHost("/agent/revoke-capability", { agent_id: one.agentId, capabilities });
    const answer = await revoke(["check_balance", "fly"]);
    expect(answer.body["revoked"]).toEqual(["check_balance"]);
    expect(answer.body["grant_ids"]).toHaveLength(1);
    expect((await revoke(["check_balance"])).body).toMatchObject({ revoked: [], grant_ids: [] });
    for (const capabilities of [[], "all", [7], undefined]) {
      expect(said(await revoke(capabilities))).toBe("400 invalid_request");
    }
    const status = await one.asAgent("/agent/status");
    expect(grantWords(status)).toEqual(["check_balance denied", "list_payees active"]);
    const ended = grantsIn(status).find(({ capability }) => capability === "check_balance");
    expect(ended).toEqual({
      capability: "check_balance",
      status: "denied",
      reason: "its host revoked it",
    });
  });
});

describe("revoking a host", () => {
  test("ends all its agents, and the host's key is not accepted again", async () => {
    const home = await bank();
    const one = await linked(home);
    const second = new Driver(home, one.host, await newKey());
    await second.register();
    const foreign = await one.asHost("/host/revoke", { host_id: "host_x" });
    expect(said(foreign)).toBe("403 unauthorized");
    expect(said(await one.asHost("/host/revoke", { host_id: 7 }))).toBe("400 invalid_request");
    const answer = await one.asHost("/host/revoke", {});
    expect(answer.body).toMatchObject({ status: "revoked", agents_revoked: 2 });
    expect(said(await one.asHost("/capability/list"))).toBe("403 host_revoked");
    expect(said(await one.asAgent("/agent/status"))).toBe("403 host_revoked");
    expect(said(await one.register())).toBe("403 host_revoked");
    const events = await home.events();
    expect(events.some(({ codes = [] }) => codes.includes("host_revoked"))).toBe(true);
  });
});

describe("introspection", () => {
  const introspect = ({ url }: Bank, token: unknown) =>
    send(`${url}/agent/introspect`, { json: { token } });

  test("lists an agent's active grants with their constraints", async () => {
    const home = await bank();
    const constraints = { amount: { max: 10 } };
    const one = await granted(home, [{ name: "transfer_funds", constraints }]);
    const { body } = await introspect(home, await one.agentJwt());
    const host = await home.parties.hostByKey(one.host.thumbprint);
    const grants = objectsIn(body["agent_capability_grants"]);
    expect(grants).toContainEqual({ capability: "transfer_funds", status: "active", constraints });
    expect(grants).toHaveLength(3);
    expect(body).toMatchObject({
      active: true,
      agent_id: one.agentId,
      host_id: host?.id,
      user_id: "alice",
      mode: "delegated",
      expires_at: expect.stringMatching(/^2026-05-04T13/),
    });
    expect(JSON.stringify(body)).not.toContain("token");
    const narrowed = await one.agentJwt({ claims: { capabilities: ["list_payees"] } });
    const less = objectsIn((await introspect(home, narrowed)).body["agent_capability_grants"]);
    expect(less).toEqual([{ capability: "list_payees", status: "active" }]);
  });

  test("adds the policy's limits on arguments, also those that the four operators cannot express", async () => {
    const home = await bank();
    const constraints = { amount: { max: 10 } };
    const one = await granted(home, [{ name: "transfer_funds", constraints }]);
    const rule = { group: "customers", grant: "*", operations: "*" } as const;
    home.policy.replace({
      groups: { customers: ["alice"] },
      rules: [{ ...rule, operationConstraints: { transfer: { note: { absent: true } } } }],
    });
    const limits = { ...constraints, note: { absent: true } };
    const { body } = await introspect(home, await one.agentJwt());
    const grants = objectsIn(body["agent_capability_grants"]);
    expect(grants).toContainEqual({
      capability: "transfer_funds",
      status: "active",
      constraints: limits,
    });
    const status = await one.asAgent("/agent/status");
    expect(objectsIn(status.body["agent_capability_grants"])).toContainEqual(
      expect.objectContaining({ capability: "transfer_funds", constraints: limits }),
    );
  });

  test("of a JWT for a location lists only the grants that can be executed at that location", async () => {
    const home = await bank();
    const one = await granted(home, ["print_report", "transfer_funds"]);
    const names = async (capabilities?: readonly string[]) => {
      const token = await one.agentJwt({ claims: { aud: REPORTS, capabilities } });
      const { body } = await introspect(home, token);
      expect(body["active"]).toBe(true);
      return objectsIn(body["agent_capability_grants"]).map(({ capability }) => capability);
    };
    expect(await names()).toEqual(["print_report"]);
    expect(await names(["print_report", "list_payees"])).toEqual(["print_report"]);
    expect(await names(["list_payees"])).toEqual([]);
    expect(await names([])).toEqual([]);
  });

  test("answers only { active: false } for a JWT that is invalid, used or not an agent's, and for a revoked agent", async () => {
    const home = await bank();
    const one = await granted(home, ["print_report"]);
    const at = (capabilities?: readonly string[], aud = REPORTS) =>
      one.agentJwt({ claims: { aud, capabilities } });
    const used = await one.agentJwt();
    await introspect(home, used);
    const inactive = [
      "a.b.c",
      "no token",
      used,
      await one.hostJwt(),
      await at(["print_report"], "https://x.example"),
      await one.agentJwt({ key: await newKey() }),
    ];
    for (const [place, token] of inactive.entries()) {
      expect((await introspect(home, token)).body, String(place)).toEqual({ active: false });
    }
    const here = await one.asAgent("/agent/status", undefined, {
      claims: { aud: REPORTS, capabilities: ["print_report"] },
    });
    expect(said(here)).toBe("401 invalid_jwt");
    expect(said(await introspect(home, 7))).toBe("400 invalid_request");
    await one.asAgent("/agent/revoke", {});
    expect((await introspect(home, await one.agentJwt())).body).toEqual({ active: false });
  });
});

describe("claiming an autonomous agent", () => {
  test("links the agent's host to a user, and ends the agent", async () => {
    const home = await bank();
    const one = await driver(home);
    await one.register({ mode: "autonomous" });
    expect(said(await one.execute("list_payees", {}))).toBe("200");
    const answer = await one.asHost("/agent/claim", { agent_id: one.agentId });
    expect(answer.body).toMatchObject({ agent_id: one.agentId, mode: "autonomous" });
    await one.decide(answer);
    expect(said(await one.asAgent("/agent/status"))).toBe("403 agent_claimed");
    const host = await home.parties.hostByKey(one.host.thumbprint);
    expect(host).toMatchObject({ status: "active", principal: "alice" });
    const again = await one.asHost("/agent/claim", { agent_id: one.agentId });
    expect(again.body["error"]).toBe("agent_claimed");
  });

  test("is refused for a delegated, an unknown and a missing agent", async () => {
    const home = await bank();
    const one = await linked(home);
    const claim = (body: object) => one.asHost("/agent/claim", body);
    expect(said(await claim({ agent_id: one.agentId }))).toBe("400 unsupported_mode");
    expect(said(await claim({ agent_id: "agent_x" }))).toBe("404 agent_not_found");
    expect(said(await claim({}))).toBe("400 invalid_request");
  });

  test("is allowed only to the agent and its host, and a refusal tells other callers nothing about the agent", async () => {
    const home = await bank();
    const one = await driver(home);
    await one.register({ mode: "autonomous" });
    const other = await linked(home, "mallory");
    const stranger = await driver(home);
    const json = { agent_id: one.agentId, login_hint: "mallory" };
    const refused = [
      await other.asHost("/agent/claim", json),
      await other.asAgent("/agent/claim", json),
      await stranger.asHost("/agent/claim", json),
    ];
    expect(refused.map(said)).toEqual(["403 unauthorized", "403 unauthorized", "401 invalid_jwt"]);
    for (const { body } of refused) expect(Object.keys(body).sort()).toEqual(["error", "message"]);
    expect(await home.parties.approvals.waitingFor("mallory")).toEqual([]);
    expect(await home.parties.hostByKey(stranger.host.thumbprint)).toBeUndefined();
    expect(said(await one.execute("list_payees", {}))).toBe("200");
    expect(said(await one.asAgent("/agent/claim", { agent_id: one.agentId }))).toBe("200");
  });
});

describe("a revocation by the operator", () => {
  const at = "2026-05-04T12:00:00Z";

  test("of a capability id ends its grant in status, introspection and execution; the capability can be requested again", async () => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds"]);
    const grants = await home.parties.grantsOf(one.agentId);
    const id = grants.find(({ capability }) => capability === "transfer_funds")?.capabilityId ?? "";
    await home.revocations.add({ kind: "capability", id, at });
    const pay = () => one.execute("transfer_funds", { amount: 1, to: "acc_A" });
    expect(said(await pay())).toBe("403 capability_not_granted");
    const status = await one.asAgent("/agent/status");
    expect(grantWords(status)).toContain("transfer_funds denied");
    const shown = grantsIn(status).find(({ capability }) => capability === "transfer_funds");
    expect(shown).toMatchObject({ reason: "it was revoked" });
    const token = await one.agentJwt();
    const introspected = await send(`${home.url}/agent/introspect`, { json: { token } });
    expect(grantWords(introspected)).toEqual(["check_balance active", "list_payees active"]);
    const again = await one.request(["transfer_funds"]);
    expect(said(again)).toBe("200");
    await one.decide(again);
    expect(said(await pay())).toBe("200");
  });

  test("of a user ends the hosts, agents, grants, tokens and pending requests of that user only", async () => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds"]);
    const token = await one.token("transfer_funds");
    const waits = await one.request(["delete_payee"]);
    const sister = new Driver(home, one.host, await newKey());
    expect(said(await sister.register())).toBe("200");
    const second = await linked(home);
    const bob = await linked(home, "bob");
    const revoked = await home.parties.revokeUser("alice", { operator: true });
    expect(revoked).toEqual({ hosts: 2, agents: 3 });
    for (const agent of [one, sister, second]) {
      expect(said(await agent.asAgent("/agent/status"))).toBe("403 host_revoked");
    }
    expect(said(await one.register())).toBe("403 host_revoked");
    const pay = home.issuer.authorize(token, { grant: "payments:make", operation: "transfer" });
    expect(pay.allowed || pay.denials[0].code).toBe("revoked");
    await expect(one.decide(waits)).rejects.toThrow("it is settled already: cancelled");
    expect(await home.parties.activeGrants("alice")).toEqual([]);
    expect(said(await bob.execute("list_payees", {}))).toBe("200");
    expect(await home.parties.revokeUser("alice", { operator: true })).toEqual({
      hosts: 0,
      agents: 0,
    });
    const changes = (await home.events()).filter(({ operator }) => operator === true);
    expect(changes.map(({ change }) => change)).toContain("user.revoked");
    // An agent that the user registers later works: the identity provider decides who may sign in.
    home.clock.now += 2000;
    expect(said(await (await linked(home)).execute("list_payees", {}))).toBe("200");
  });
});

test("introspection has its own rate limit per address, in addition to the common rate limit", async () => {
  const home = await bank({
    introspection: { requests: 2, seconds: 60 },
    trustedProxies: ["127.0.0.1"],
  });
  const one = await linked(home);
  const introspect = async (from: string) =>
    send(`${home.url}/agent/introspect`, {
      json: { token: await one.agentJwt() },
      headers: { "X-Forwarded-For": from },
    });
  const answers: string[] = [];
  for (const from of ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"]) {
    answers.push(said(await introspect(from)));
  }
  expect(answers).toEqual(["200", "200", "429 rate_limited", "200"]);
  const late = await introspect("192.0.2.1");
  expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
  // Other endpoints are not affected, and a JWT in a rate-limited request is not recorded as used.
  const list = await send(`${home.url}/.well-known/agent-configuration`, {
    headers: { "X-Forwarded-For": "192.0.2.1" },
  });
  expect(said(list)).toBe("200");
});

test("by default, an address can call introspection 30 times a minute", async () => {
  const home = await bank();
  const ask = async () =>
    said(await send(`${home.url}/agent/introspect`, { json: { token: "a.b.c" } }));
  const answers: string[] = [];
  for (let at = 0; at < 31; at++) answers.push(await ask());
  expect(answers.indexOf("429 rate_limited")).toBe(30);
});
