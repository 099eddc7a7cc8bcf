import { describe, expect, test } from "vitest";
import { textIn } from "../../../src/client/received.js";
import {
  type Answer,
  Driver,
  driver,
  grantWords,
  type Key,
  linked,
  newKey,
  proofOf,
  said,
  send,
} from "./driver.js";
import { type Bank, bank } from "./served-bank.js";

/** Returns a driver for the same host and agent, with another key of the host. */
function under(one: Driver, key: Key): Driver {
  const same = new Driver(one.bank, key, one.agent);
  same.agentId = one.agentId;
  return same;
}

function statusOf(one: Driver): Promise<Answer> {
  return one.asHost(`/agent/status?agent_id=${one.agentId}`);
}

/**
 * Rotates a host's key without a proof, as the specification and the published SDK do. Returns a driver with the new
 * key.
 */
async function rotated(one: Driver, next: Key): Promise<Driver> {
  const answer = await one.asHost("/host/rotate-key", { public_key: next.jwk });
  expect(said(answer)).toBe("200");
  expect(answer.body["status"]).toBe("active");
  return under(one, next);
}

/** Makes a host for a user, and enrols the host as the published SDK does. */
async function enrolled(home: Bank, principal: string, key: Key, defaults?: readonly string[]) {
  const made = await home.parties.createHost({
    principal,
    name: "Laptop",
    defaults,
  });
  const token = made.ok ? made.enrolmentToken : undefined;
  const json = { token, public_key: { ...key.jwk, kid: key.thumbprint }, name: "laptop.local" };
  return send(`${home.url}/host/enroll`, { json });
}

describe("rotating a key", () => {
  test("makes an agent's new key valid and its old key invalid at once", async () => {
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

  test("makes a host's new key valid at once, and keeps the host's agents", async () => {
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
    expect(said(await one.asHost("/capability/list"))).toBe("401 invalid_jwt");
    const byId = { claims: { iss: String(answer.body["host_id"]) } };
    expect(said(await one.asHost("/capability/list", undefined, byId))).toBe("401 invalid_jwt");
    const same = new Driver(home, next, one.agent);
    same.agentId = one.agentId;
    expect(said(await same.asHost(`/agent/status?agent_id=${one.agentId}`))).toBe("200");
    expect(said(await same.asAgent("/agent/status"))).toBe("200");
  });
});

describe("a proof for a new key", () => {
  const ODD: readonly [
    about: string,
    expected: string,
    proof: (home: Bank, key: Key, path: string, agent: string | undefined) => unknown,
  ][] = [
    ["if it is not a string", "400 invalid_request", () => null],
    ["if it is not a JWT", "401 invalid_jwt", () => "proof"],
    [
      "if it is signed with another key",
      "401 invalid_jwt",
      async (home, key, path, agent) =>
        proofOf(home, key, path, { ...of(agent), key: await newKey() }),
    ],
    [
      "if it is for another address",
      "401 invalid_jwt",
      (home, key, _, agent) => proofOf(home, key, "/agent/status", of(agent)),
    ],
    [
      "if it is for another server",
      "401 invalid_jwt",
      (home, key, path, agent) =>
        proofOf(home, key, path, { ...of(agent), claims: { aud: "https://other.example" } }),
    ],
    [
      "if it names another party",
      "401 invalid_jwt",
      (home, key, path, agent) =>
        proofOf(home, key, path, { ...of(agent), claims: { iss: "x", sub: "agent_x" } }),
    ],
    [
      "if it proves an agent's key in place of a host's, or the reverse",
      "401 invalid_jwt",
      (home, key, path, agent) => proofOf(home, key, path, agent === undefined ? of("x") : {}),
    ],
  ];
  const of = (agent: string | undefined) => (agent === undefined ? {} : { agent });

  test("is refused with the reason for which it proves nothing", async () => {
    const home = await bank();
    const one = await linked(home);
    for (const row of ODD) await refused(home, one, ...row);
    expect(said(await one.asAgent("/agent/status"))).toBe("200");
  });

  async function refused(home: Bank, one: Driver, ...row: (typeof ODD)[number]): Promise<void> {
    const [about, expected, proofIn] = row;
    const made = await home.parties.createHost({ principal: "mallory" });
    const victim = await newKey();
    const give = async (path: string, members: object, agent?: string) => {
      const proof = await proofIn(home, victim, path, agent);
      return said(await one.asHost(path, { ...members, public_key: victim.jwk, proof }));
    };
    const token = made.ok ? made.enrolmentToken : undefined;
    expect(await give("/host/enroll", { token }), about).toBe(expected);
    expect(await give("/host/rotate-key", {}), about).toBe(expected);
    const { agentId } = one;
    expect(await give("/agent/rotate-key", { agent_id: agentId }, agentId), about).toBe(expected);
    // The key does not belong to a host, so its owner can still register it.
    expect(await home.parties.hostByKey(victim.thumbprint), about).toBeUndefined();
  }

  test("is accepted only once", async () => {
    const home = await bank();
    const one = await linked(home);
    const next = await newKey();
    const proof = await proofOf(home, next, "/agent/rotate-key", { agent: one.agentId });
    const body = { agent_id: one.agentId, public_key: next.jwk, proof };
    expect(said(await one.asHost("/agent/rotate-key", body))).toBe("200");
    expect(said(await one.asHost("/agent/rotate-key", body))).toBe("401 jti_replay");
  });
});

describe("enrolling a host", () => {
  test("registers the key of a host that a user made, once per enrolment token", async () => {
    const home = await bank();
    const made = await home.parties.createHost({ principal: "alice", name: "Laptop" });
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
    // The server does not record the proof in a request with an unknown token as used, since anybody could send such a
    // request.
    for (let time = 0; time < 2; time++) {
      const guess = await enroll({ ...body, token: "made up" });
      expect(said(guess)).toBe("401 enrollment_token_invalid");
    }
    expect((await enroll(body)).body).toEqual({
      hostId: made.ok && made.host.id,
      name: "Laptop",
      status: "active",
      default_capabilities: ["check_balance", "list_payees"],
    });
    const other = await driver(home);
    expect(said(await enroll(body))).toBe("401 enrollment_token_invalid");
    const again = await enroll(await proved(other));
    expect(said(again)).toBe("401 enrollment_token_invalid");
    expect((await one.register()).body["status"]).toBe("active");
  });

  test("is refused after the enrolment token has expired", async () => {
    const home = await bank();
    const made = await home.parties.createHost({ principal: "alice" });
    const one = await driver(home);
    home.clock.now += 2 * 60 * 60 * 1000;
    const token = made.ok ? made.enrolmentToken : undefined;
    const proof = await proofOf(home, one.host, "/host/enroll");
    const json = { token, public_key: one.host.jwk, proof };
    const answer = await send(`${home.url}/host/enroll`, { json });
    expect(said(answer)).toBe("401 enrollment_token_expired");
  });
});

describe("an agent's key rotated without a proof", () => {
  test("can be set by the agent's host, as in the specification, or by the agent, as in the published SDK", async () => {
    const home = await bank();
    const one = await linked(home);
    const [second, third] = [await newKey(), await newKey()];
    const body = { agent_id: one.agentId, public_key: second.jwk };
    const answer = await one.asHost("/agent/rotate-key", body);
    expect(answer.body).toEqual({ agent_id: one.agentId, status: "active" });
    expect(said(await one.asAgent("/agent/status"))).toBe("401 invalid_jwt");
    const same = new Driver(home, one.host, second);
    same.agentId = one.agentId;
    const own = await same.asAgent("/agent/rotate-key", { public_key: third.jwk });
    expect(own.body).toEqual({ agent_id: one.agentId, status: "active" });
    expect(said(await same.asAgent("/agent/status"))).toBe("401 invalid_jwt");
  });

  test("cannot be set by another agent or another agent's host", async () => {
    const home = await bank();
    const one = await linked(home);
    const other = await linked(home);
    const body = { agent_id: one.agentId, public_key: (await newKey()).jwk };
    expect(said(await other.asAgent("/agent/rotate-key", body))).toBe("403 unauthorized");
    expect(said(await other.asHost("/agent/rotate-key", body))).toBe("403 unauthorized");
  });

  test("can be registered by another agent of the host until a JWT is signed with the key", async () => {
    const home = await bank();
    const one = await linked(home);
    const claimed = await newKey();
    await one.asAgent("/agent/rotate-key", { public_key: claimed.jwk });
    const other = new Driver(home, one.host, claimed);
    expect(said(await other.register())).toBe("200");
    expect(said(await other.asAgent("/agent/status"))).toBe("200");
    const proven = await newKey();
    await other.asAgent("/agent/rotate-key", { public_key: proven.jwk });
    const same = new Driver(home, one.host, proven);
    same.agentId = other.agentId;
    expect(said(await same.asAgent("/agent/status"))).toBe("200");
    const third = new Driver(home, one.host, proven);
    expect(said(await third.register())).toBe("409 agent_exists");
  });
});

describe("a host's key rotated without a proof", () => {
  test("is proven when it signs a JWT that names an agent of the host", async () => {
    const home = await bank();
    const one = await linked(home);
    const id = (await home.parties.hostByKey(one.host.thumbprint))?.id;
    const same = await rotated(one, await newKey());
    expect(said(await one.asHost("/capability/list"))).toBe("401 invalid_jwt");
    // The agent keeps working, whether its JWT names the host's registered key or not.
    expect(said(await same.asAgent("/agent/status"))).toBe("200");
    expect(said(await same.asHost("/capability/list"))).toBe("401 invalid_jwt");
    expect(said(await statusOf(same))).toBe("200");
    expect(said(await same.asHost("/capability/list"))).toBe("200");
    expect((await home.parties.hostByKey(same.host.thumbprint))?.id).toBe(id);
    const second = new Driver(home, same.host, await newKey());
    const answer = await second.register();
    expect(answer.body).toMatchObject({ host_id: id, status: "active" });
  });

  test.each([
    ["/agent/revoke", {}],
    ["/agent/revoke-capability", { capabilities: ["check_balance"] }],
    ["/agent/reactivate", {}],
    ["/agent/rotate-key", "key"],
  ])("is also proven by a request to %s", async (path, more) => {
    const home = await bank();
    const one = await linked(home);
    const same = await rotated(one, await newKey());
    const members = more === "key" ? { public_key: (await newKey()).jwk } : Object(more);
    expect(said(await same.asHost(path, { agent_id: one.agentId, ...members }))).toBe("200");
    expect(said(await same.asHost("/capability/list"))).toBe("200");
  });

  test("creates a new host if the key's first request registers an agent, and can still revoke the old host's agents", async () => {
    const home = await bank();
    const one = await linked(home);
    const id = (await home.parties.hostByKey(one.host.thumbprint))?.id;
    const same = await rotated(one, await newKey());
    const fresh = new Driver(home, same.host, await newKey());
    const answer = await fresh.register();
    expect(answer.body["status"]).toBe("pending");
    expect(answer.body["host_id"]).not.toBe(id);
    expect(said(await statusOf(same))).toBe("200");
    await fresh.decide(answer);
    expect(said(await fresh.asAgent("/agent/status"))).toBe("200");
    const revoked = await same.asHost("/agent/revoke", { agent_id: one.agentId });
    expect(revoked.body).toEqual({ agent_id: one.agentId, status: "revoked" });
    expect(said(await statusOf(fresh))).toBe("200");
  });

  test("can be rotated again, and can sign the revocation of its host, before the key is proven", async () => {
    const home = await bank();
    const one = await linked(home);
    const second = await rotated(one, await newKey());
    const third = await rotated(second, await newKey());
    expect(said(await second.asHost("/host/revoke", {}))).toBe("404 host_not_found");
    const answer = await third.asHost("/host/revoke", {});
    expect(answer.body).toMatchObject({ status: "revoked", agents_revoked: 1 });
    expect(said(await third.asHost("/host/revoke", {}))).toBe("404 host_not_found");
    expect(said(await third.asAgent("/agent/status"))).toBe("403 host_revoked");
  });

  test("if given to two hosts, belongs to the first host that proves the key with a JWT about its agent", async () => {
    const home = await bank();
    const one = await linked(home);
    const mallory = await linked(home, "mallory");
    const next = await newKey();
    const same = await rotated(one, next);
    const other = await rotated(mallory, next);
    expect(said(await same.asHost("/host/revoke", {}))).toBe("404 host_not_found");
    expect(said(await statusOf(same))).toBe("200");
    const answer = await same.asHost("/host/revoke", {});
    expect(answer.body).toMatchObject({ status: "revoked", agents_revoked: 1 });
    expect(said(await other.asAgent("/agent/status"))).toBe("200");
  });

  test("signs JWTs that are accepted only once, like those of any other key", async () => {
    const home = await bank();
    const one = await linked(home);
    const same = await rotated(one, await newKey());
    const jwt = await same.hostJwt();
    const ask = async () =>
      said(await send(`${home.url}/agent/status?agent_id=${one.agentId}`, { jwt }));
    expect(await ask()).toBe("200");
    expect(await ask()).toBe("401 jti_replay");
  });
});

describe("a key that belongs to another host", () => {
  test("stays with its owner if a second host rotates to the key or enrols with the key", async () => {
    const home = await bank();
    const mallory = await linked(home, "mallory");
    const victim = await driver(home);
    await mallory.asHost("/host/rotate-key", { public_key: victim.host.jwk });
    expect(said(await enrolled(home, "mallory", victim.host))).toBe("200");
    const answer = await victim.register({ capabilities: ["check_balance"] });
    expect(answer.body["status"]).toBe("pending");
    expect(await home.parties.approvals.waitingFor("mallory")).toEqual([]);
    await victim.decide(answer);
    const status = await victim.asAgent("/agent/status");
    expect(status.body["user_id"]).toBe("alice");
    const own = await home.parties.hostByKey(victim.host.thumbprint);
    expect(own).toMatchObject({ principal: "alice", status: "active" });
  });

  test("can still be used by its owner after a host that was enrolled with the key is revoked", async () => {
    const home = await bank();
    const victim = await driver(home);
    await enrolled(home, "mallory", victim.host);
    const [own] = await home.parties.hostsOf("mallory");
    await home.parties.revokeHost(own?.id ?? "", { principal: "mallory" });
    expect(said(await victim.register())).toBe("200");
  });

  test("cannot be given to a host once its owner has proven the key", async () => {
    const home = await bank();
    const victim = await linked(home);
    const mallory = await linked(home, "mallory");
    const body = { public_key: victim.host.jwk };
    expect(said(await mallory.asHost("/host/rotate-key", body))).toBe("409 key_in_use");
    expect(said(await enrolled(home, "mallory", victim.host))).toBe("409 host_already_linked");
    expect(said(await mallory.asHost("/capability/list"))).toBe("200");
  });

  test("is not proven by a request to claim an agent", async () => {
    const home = await bank();
    const mallory = await driver(home);
    await mallory.register({ mode: "autonomous" });
    const victim = await driver(home);
    await mallory.asHost("/host/rotate-key", { public_key: victim.host.jwk });
    const claim = await victim.asHost("/agent/claim", { agent_id: mallory.agentId });
    expect(said(claim)).toBe("403 unauthorized");
    const answer = await victim.register();
    const own = await home.parties.hostByKey(victim.host.thumbprint);
    expect(answer.body["host_id"]).toBe(own?.id);
    expect((await home.parties.agent(mallory.agentId))?.host).not.toBe(own?.id);
  });

  test("is not proven by a JWT that names an agent of another host", async () => {
    const home = await bank();
    const mallory = await linked(home, "mallory");
    const victim = await linked(home);
    await mallory.asHost("/host/rotate-key", { public_key: (await newKey()).jwk });
    const foreign = await victim.asHost(`/agent/status?agent_id=${mallory.agentId}`);
    expect(said(foreign)).toBe("403 unauthorized");
    const stranger = await driver(home);
    const unknown = await stranger.asHost(`/agent/status?agent_id=${mallory.agentId}`);
    expect(said(unknown)).toBe("401 invalid_jwt");
  });
});

describe("enrolling a host without a proof of its key", () => {
  test("makes the first agent wait for the user, whose approval keeps the name and default capabilities of the enrolment", async () => {
    const home = await bank();
    const one = await driver(home);
    const answer = await enrolled(home, "alice", one.host, ["list_payees"]);
    // The answer has the name that the user gave the host, not the name that the host gave itself.
    expect(answer.body).toMatchObject({ name: "Laptop", status: "active" });
    expect(await home.parties.hostByKey(one.host.thumbprint)).toBeUndefined();
    const asked = await one.register({ capabilities: ["list_payees"] });
    expect(asked.body["status"]).toBe("pending");
    await one.decide(asked);
    const host = await home.parties.hostByKey(one.host.thumbprint);
    expect(host).toMatchObject({ name: "Laptop", defaults: ["list_payees"] });
    const hosts = await home.parties.hostsOf("alice");
    expect(hosts.map(({ status }) => status).sort()).toEqual(["active", "revoked"]);
    expect(hosts.find(({ status }) => status === "revoked")?.id).toBe(answer.body["hostId"]);
  });

  test.each([
    [
      "the limit of waiting strangers is reached",
      { bounds: { pendingHosts: 1, pendingHostsPerAddress: 1 } },
    ],
    ["hosts cannot register themselves", { allowHosts: false }],
  ])("lets the host register a delegated agent although %s", async (_, settings) => {
    const home = await bank({ settings });
    const stranger = await driver(home);
    await stranger.register();
    expect(said(await (await driver(home)).register())).toMatch(/^(429|403) /);
    const one = await driver(home);
    await enrolled(home, "alice", one.host, ["list_payees"]);
    // The registration of an autonomous agent is still counted, since the agent's host would have no user.
    const alone = said(await one.register({ mode: "autonomous" }));
    expect(alone).toMatch(/^(429|403) /);
    const asked = await one.register({ capabilities: ["list_payees"] });
    expect(said(asked)).toBe("200");
    await one.decide(asked);
    const status = await one.asAgent("/agent/status");
    expect(grantWords(status)).toEqual(["list_payees active"]);
  });

  test("does not apply the default capabilities of the enrolment if another user links the host", async () => {
    const home = await bank();
    const one = await driver(home);
    await enrolled(home, "mallory", one.host, []);
    const asked = await one.register();
    await one.decide(asked);
    const host = await home.parties.hostByKey(one.host.thumbprint);
    expect(host?.defaults).toEqual(["check_balance", "list_payees"]);
    const [own] = await home.parties.hostsOf("mallory");
    expect(own).toMatchObject({ status: "active" });
    expect(own?.thumbprint).toBeUndefined();
  });
});

describe("a weak key for which anyone could make signatures", () => {
  /** The points of small order as RFC 8032 encodes them, and non-canonical encodings of such points. */
  const SMALL: readonly string[] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0100000000000000000000000000000000000000000000000000000000000080",
  ];

  test("is refused wherever a key is given", async () => {
    const home = await bank();
    const one = await linked(home);
    const made = await home.parties.createHost({ principal: "alice" });
    const token = made.ok ? made.enrolmentToken : undefined;
    const points = [...SMALL, "0200000000000000000000000000000000000000000000000000000000000000"];
    for (const point of points) {
      const x = Buffer.from(point, "hex").toString("base64url");
      const key = { kty: "OKP", crv: "Ed25519", x };
      const odd = { claims: { agent_public_key: key } };
      const answers = [
        await one.asHost("/host/rotate-key", { public_key: key }),
        await one.asAgent("/agent/rotate-key", { public_key: key }),
        await send(`${home.url}/host/enroll`, { json: { token, public_key: key } }),
        await one.register({}, { odd }),
        await one.asHost("/capability/list", undefined, { claims: { host_public_key: key } }),
      ];
      expect(answers.map(said), point).toEqual(answers.map(() => "400 invalid_public_key"));
    }
    for (const odd of [{ crv: "Ed25519", x: one.host.jwk.x }, "key", null, []]) {
      const answer = await one.asHost("/host/rotate-key", { public_key: odd });
      expect(textIn(answer.body["error"])).toBe("invalid_public_key");
    }
  });
});
