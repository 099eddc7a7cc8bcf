import { describe, expect, test } from "vitest";
import { objectsIn } from "../../../src/client/received.js";
import {
  Driver,
  driver,
  granted,
  grantWords,
  type Key,
  linked,
  newKey,
  type Odd,
  proofOf,
  said,
  send,
} from "./driver.js";
import { type Bank, bank, REPORTS } from "./served-bank.js";

describe("an agent's end", () => {
  test("by itself: its grants, its tokens and its JWTs end with it", async () => {
    const home = await bank();
    const one = await granted(home, ["transfer_funds"]);
    const other = await linked(home);
    const foreign = await one.asAgent("/agent/revoke", { agent_id: other.agentId });
    expect(said(foreign)).toBe("403 unauthorized");
    const token = await one.token("check_balance");
    const answer = await one.asAgent("/agent/revoke", {});
    expect(answer.body).toEqual({ agent_id: one.agentId, status: "revoked" });
    expect(said(await one.asAgent("/agent/status"))).toBe("403 agent_revoked");
    const odd: Odd = { key: await newKey() };
    expect(said(await one.asAgent("/agent/status", undefined, odd))).toBe("401 invalid_jwt");
    const read = home.issuer.authorize(token, { grant: "accounts:read", operation: "balance" });
    expect(read.allowed || read.denials[0].code).toBe("revoked");
  });

  test("by its host, a second time too", async () => {
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
    expect(said(await one.register())).toBe("200");
  });

  test("of some of its grants, by name", async () => {
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
    expect(grantWords(await one.asAgent("/agent/status"))).toEqual([
      ...["check_balance revoked", "list_payees active"],
    ]);
  });
});

describe("a host's end", () => {
  test("takes all its agents with it, and its key is not taken again", async () => {
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

describe("keys", () => {
  test("an agent's new key counts at once, the old one no more", async () => {
    const home = await bank();
    const one = await linked(home);
    const next = await newKey();
    const path = "/agent/rotate-key";
    const rotate = (body: object) => one.asHost(path, body);
    const proof = await proofOf(home, next, path, { agent: one.agentId });
    const body = { agent_id: one.agentId, public_key: next.jwk, proof };
    expect(said(await rotate({ ...body, public_key: {} }))).toBe("400 invalid_public_key");
    const p256 = { kty: "EC", crv: "P-256", x: "A", y: "B" };
    expect(said(await rotate({ ...body, public_key: p256 }))).toBe("400 unsupported_algorithm");
    const other = await linked(home);
    const foreign = await other.asHost("/agent/rotate-key", body);
    expect(said(foreign)).toBe("403 unauthorized");
    const answer = await rotate(body);
    expect(answer.body).toEqual({ agent_id: one.agentId, status: "active" });
    expect(said(await one.asAgent("/agent/status"))).toBe("401 invalid_jwt");
    const same = new Driver(home, one.host, next);
    same.agentId = one.agentId;
    expect(said(await same.asAgent("/agent/status"))).toBe("200");
  });

  test("a host's new key counts at once, and its agents stay", async () => {
    const home = await bank();
    const one = await linked(home);
    const next = await newKey();
    const other = await linked(home);
    const path = "/host/rotate-key";
    const rotate = async (key: Key) =>
      one.asHost(path, { public_key: key.jwk, proof: await proofOf(home, key, path) });
    const taken = await rotate(other.host);
    expect(said(taken)).toBe("409 key_in_use");
    const answer = await rotate(next);
    expect(answer.body["status"]).toBe("active");
    expect(said(await one.asHost("/capability/list"))).toBe("401 host_not_found");
    const byId = { claims: { iss: String(answer.body["host_id"]), host_public_key: undefined } };
    expect(said(await one.asHost("/capability/list", undefined, byId))).toBe("401 invalid_jwt");
    const same = new Driver(home, next, one.agent);
    same.agentId = one.agentId;
    expect(said(await same.asHost(`/agent/status?agent_id=${one.agentId}`))).toBe("200");
    expect(said(await same.asAgent("/agent/status"))).toBe("200");
  });
});

describe("a new key", () => {
  const ODD: readonly [
    about: string,
    expected: string,
    proof: (home: Bank, key: Key, path: string, agent: string | undefined) => unknown,
  ][] = [
    ["without a proof", "400 invalid_request", () => undefined],
    ["with a proof that is no JWT", "401 invalid_jwt", () => "proof"],
    [
      "signed under another key",
      "401 invalid_jwt",
      async (home, key, path, agent) =>
        proofOf(home, key, path, { ...of(agent), key: await newKey() }),
    ],
    [
      "for another address",
      "401 invalid_jwt",
      (home, key, _, agent) => proofOf(home, key, "/agent/status", of(agent)),
    ],
    [
      "for another server",
      "401 invalid_jwt",
      (home, key, path, agent) =>
        proofOf(home, key, path, { ...of(agent), claims: { aud: "https://other.example" } }),
    ],
    [
      "of another party",
      "401 invalid_jwt",
      (home, key, path, agent) =>
        proofOf(home, key, path, { ...of(agent), claims: { iss: "x", sub: "agent_x" } }),
    ],
    [
      "of the other kind",
      "401 invalid_jwt",
      (home, key, path, agent) => proofOf(home, key, path, agent === undefined ? of("x") : {}),
    ],
  ];
  const of = (agent: string | undefined) => (agent === undefined ? {} : { agent });

  test.each(ODD)("is refused %s", async (_, expected, proofIn) => {
    const home = await bank();
    const one = await linked(home);
    const made = await home.registry.createHost({ principal: "mallory" });
    const victim = await newKey();
    const give = async (path: string, members: object, agent?: string) => {
      const proof = await proofIn(home, victim, path, agent);
      return said(await one.asHost(path, { ...members, public_key: victim.jwk, proof }));
    };
    const token = made.ok ? made.enrolmentToken : undefined;
    expect(await give("/host/enroll", { token })).toBe(expected);
    expect(await give("/host/rotate-key", {})).toBe(expected);
    const { agentId } = one;
    expect(await give("/agent/rotate-key", { agent_id: agentId }, agentId)).toBe(expected);
    // The key is still its owner's to register.
    expect(await home.registry.hostByKey(victim.thumbprint)).toBeUndefined();
    expect(said(await one.asAgent("/agent/status"))).toBe("200");
  });

  test("a proof is good once", async () => {
    const home = await bank();
    const one = await linked(home);
    const next = await newKey();
    const proof = await proofOf(home, next, "/agent/rotate-key", { agent: one.agentId });
    const body = { agent_id: one.agentId, public_key: next.jwk, proof };
    expect(said(await one.asHost("/agent/rotate-key", body))).toBe("200");
    expect(said(await one.asHost("/agent/rotate-key", body))).toBe("401 jti_replay");
  });
});

describe("introspection", () => {
  const introspect = ({ url }: Bank, token: unknown) =>
    send(`${url}/agent/introspect`, { json: { token } });

  test("says what an agent may do, with its constraints", async () => {
    const home = await bank();
    const constraints = { amount: { max: 10 } };
    const one = await granted(home, [{ name: "transfer_funds", constraints }]);
    const { body } = await introspect(home, await one.agentJwt());
    const host = await home.registry.hostByKey(one.host.thumbprint);
    const grants = objectsIn(body["agent_capability_grants"]);
    expect(grants).toContainEqual({ capability: "transfer_funds", status: "active", constraints });
    expect(grants).toHaveLength(3);
    expect(body).toMatchObject({
      ...{ active: true, agent_id: one.agentId, host_id: host?.id, user_id: "alice" },
      ...{ mode: "delegated", expires_at: expect.stringMatching(/^2026-05-04T13/) },
    });
    expect(JSON.stringify(body)).not.toContain("token");
    const narrowed = await one.agentJwt({ claims: { capabilities: ["list_payees"] } });
    const less = objectsIn((await introspect(home, narrowed)).body["agent_capability_grants"]);
    expect(less).toEqual([{ capability: "list_payees", status: "active" }]);
  });

  test("says no more than that of whatever is wrong", async () => {
    const home = await bank();
    const one = await granted(home, ["print_report"]);
    const at = (capabilities?: readonly string[], aud = REPORTS) =>
      one.agentJwt({ claims: { aud, capabilities } });
    const used = await one.agentJwt();
    await introspect(home, used);
    const inactive = [
      ...["a.b.c", "no token", used, await one.hostJwt(), await at(), await at(["list_payees"])],
      ...[
        await at(["print_report", "list_payees"]),
        await at(["print_report"], "https://x.example"),
      ],
      await one.agentJwt({ key: await newKey() }),
    ];
    for (const [place, token] of inactive.entries()) {
      expect((await introspect(home, token)).body, String(place)).toEqual({ active: false });
    }
    const located = await introspect(home, await at(["print_report"]));
    expect(located.body["active"]).toBe(true);
    const here = await one.asAgent("/agent/status", undefined, {
      claims: { aud: REPORTS, capabilities: ["print_report"] },
    });
    expect(said(here)).toBe("401 invalid_jwt");
    expect(said(await introspect(home, 7))).toBe("400 invalid_request");
    await one.asAgent("/agent/revoke", {});
    expect((await introspect(home, await one.agentJwt())).body).toEqual({ active: false });
  });
});

describe("enrolment", () => {
  test("a host that a user made gives its key by the token, once", async () => {
    const home = await bank();
    const made = await home.registry.createHost({ principal: "alice", name: "Laptop" });
    const token = made.ok ? made.enrolmentToken : undefined;
    const one = await driver(home);
    const enroll = (body: object) => send(`${home.url}/host/enroll`, { json: body });
    const proved = async ({ host }: Driver) => {
      const proof = await proofOf(home, host, "/host/enroll");
      return { token, public_key: host.jwk, proof };
    };
    const body = await proved(one);
    expect(said(await enroll({ ...body, public_key: {} }))).toBe("400 invalid_public_key");
    expect(said(await enroll({ public_key: one.host.jwk }))).toBe("400 invalid_request");
    expect(said(await enroll({ ...body, name: 7 }))).toBe("400 invalid_request");
    expect(said(await enroll({ ...(await proved(one)), token: "made up" }))).toBe(
      "401 enrollment_token_invalid",
    );
    // Nothing is kept of what anyone could send: the proof is not used up by it.
    for (let time = 0; time < 2; time++) {
      const guess = await enroll({ ...body, token: "made up" });
      expect(said(guess)).toBe("401 enrollment_token_invalid");
    }
    expect((await enroll(body)).body).toEqual({
      ...{ hostId: made.ok && made.host.id, name: "Laptop", status: "active" },
      default_capabilities: ["check_balance", "list_payees"],
    });
    const other = await driver(home);
    expect(said(await enroll(body))).toBe("401 enrollment_token_invalid");
    const again = await enroll(await proved(other));
    expect(said(again)).toBe("401 enrollment_token_invalid");
    expect((await one.register()).body["status"]).toBe("active");
  });

  test("a token has its time", async () => {
    const home = await bank();
    const made = await home.registry.createHost({ principal: "alice" });
    const one = await driver(home);
    home.clock.now += 2 * 60 * 60 * 1000;
    const token = made.ok ? made.enrolmentToken : undefined;
    const proof = await proofOf(home, one.host, "/host/enroll");
    const json = { token, public_key: one.host.jwk, proof };
    const answer = await send(`${home.url}/host/enroll`, { json });
    expect(said(answer)).toBe("401 enrollment_token_expired");
  });
});

describe("claiming", () => {
  test("a user takes over an autonomous agent's host, and the agent ends", async () => {
    const home = await bank();
    const one = await driver(home);
    await one.register({ mode: "autonomous" });
    expect(said(await one.execute("list_payees", {}))).toBe("200");
    const answer = await one.asHost("/agent/claim", { agent_id: one.agentId });
    expect(answer.body).toMatchObject({ agent_id: one.agentId, mode: "autonomous" });
    await one.decide(answer);
    expect(said(await one.asAgent("/agent/status"))).toBe("403 agent_claimed");
    const host = await home.registry.hostByKey(one.host.thumbprint);
    expect(host).toMatchObject({ status: "active", principal: "alice" });
    const again = await one.asHost("/agent/claim", { agent_id: one.agentId });
    expect(again.body["error"]).toBe("agent_claimed");
  });

  test("is for autonomous agents alone", async () => {
    const home = await bank();
    const one = await linked(home);
    const claim = (body: object) => one.asHost("/agent/claim", body);
    expect(said(await claim({ agent_id: one.agentId }))).toBe("400 unsupported_mode");
    expect(said(await claim({ agent_id: "agent_x" }))).toBe("404 agent_not_found");
    expect(said(await claim({}))).toBe("400 invalid_request");
    expect(said(await send(`${home.url}/agent/claim`, { json: {} }))).toBe("401 unauthorized");
  });

  test("is asked by the agent or its host alone, and shows another party nothing", async () => {
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
    expect(refused.map(said)).toEqual([
      "403 unauthorized",
      "403 unauthorized",
      "401 host_not_found",
    ]);
    for (const { body } of refused) expect(Object.keys(body).sort()).toEqual(["error", "message"]);
    expect(await home.registry.approvals.waitingFor("mallory")).toEqual([]);
    expect(await home.registry.hostByKey(stranger.host.thumbprint)).toBeUndefined();
    expect(said(await one.execute("list_payees", {}))).toBe("200");
    expect(said(await one.asAgent("/agent/claim", { agent_id: one.agentId }))).toBe("200");
  });
});
