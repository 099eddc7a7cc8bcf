import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, UnsecuredJWT } from "jose";
import { describe, expect, test } from "vitest";
import { type Driver, driver, linked, newKey, type Odd, said, send } from "./driver.js";
import { type Bank, bank } from "./served-bank.js";

// Tests the requirements on JWTs: each invalid JWT is refused with the protocol's own code, and the refusal is
// recorded.

/** Returns the codes of the last refusal in the ledger. */
async function lastCodes(home: Bank): Promise<readonly string[] | undefined> {
  const refused = (await home.events()).filter(({ decision }) => decision === "refused");
  return refused.at(-1)?.codes;
}

const seconds = ({ clock }: Bank): number => Math.floor(clock.now / 1000);

describe("an agent's JWT", () => {
  const bad: readonly (readonly [string, (home: Bank, one: Driver) => Odd | Promise<Odd>])[] = [
    ["of another type", () => ({ header: { typ: "JWT" } })],
    ["without a type", () => ({ header: { typ: undefined } })],
    ["that says how its payload is encoded", () => ({ header: { b64: true } })],
    ["for another server", () => ({ claims: { aud: "https://other.example" } })],
    ["for another endpoint", ({ url }) => ({ claims: { aud: `${url}/agent/status` } })],
    ["for executions", ({ url }) => ({ claims: { aud: `${url}/capability/execute` } })],
    ["for an issuer that is spelt otherwise", ({ url }) => ({ claims: { aud: `${url}/` } })],
    ["for two servers", ({ url }) => ({ claims: { aud: [url, "https://other.example"] } })],
    ["for no audience", () => ({ claims: { aud: undefined } })],
    ["for a location", () => ({ claims: { aud: "https://reports.example/agent/execute" } })],
    ["without iat", () => ({ claims: { iat: undefined } })],
    ["from the future", (home) => ({ claims: { iat: seconds(home) + 31 } })],
    ["that is too old", (home) => ({ claims: { iat: seconds(home) - 91 } })],
    ["that has expired", (home) => ({ claims: { exp: seconds(home) - 30 } })],
    ["that is not valid yet", (home) => ({ claims: { nbf: seconds(home) + 31 } })],
    ["without exp", () => ({ claims: { exp: undefined } })],
    ["with an exp that is no number", () => ({ claims: { exp: "tomorrow" } })],
    ["without jti", () => ({ claims: { jti: undefined } })],
    ["with a long jti", () => ({ claims: { jti: "x".repeat(257) } })],
    ["with capabilities that are no names", () => ({ claims: { capabilities: "all" } })],
    ["of another host", () => ({ claims: { iss: "host_other" } })],
    ["without sub", () => ({ claims: { sub: undefined } })],
    ["of an unknown agent", () => ({ claims: { sub: "agent_x" } })],
    ["signed with another key", async () => ({ key: await newKey() })],
    ["signed with the host's key", (_, { host }) => ({ key: host })],
  ];

  test("is refused as invalid_jwt for a wrong header, claim or key, and the refusal is recorded", async () => {
    const home = await bank();
    const one = await linked(home);
    const discovery = `${home.url}/.well-known/agent-configuration`;
    for (const [what, odd] of bad) {
      const answer = await one.asAgent("/agent/status", undefined, await odd(home, one));
      expect(said(answer), what).toBe("401 invalid_jwt");
      const challenge = answer.headers.get("www-authenticate");
      expect(challenge, what).toBe(`AgentAuth discovery="${discovery}"`);
    }
    const refused = (await home.events()).filter(({ decision }) => decision === "refused");
    expect(refused.map(({ codes }) => codes?.[0])).toEqual(bad.map(() => "invalid_jwt"));
  });

  test("is refused if it is malformed or has another algorithm", async () => {
    const home = await bank();
    const one = await linked(home);
    const claims = { iss: one.host.thumbprint, sub: one.agentId, aud: home.url, jti: "1" };
    const none = new UnsecuredJWT(claims).setIssuedAt(seconds(home)).encode();
    const [, payload = ""] = none.split(".");
    const encoded = (header: object) => Buffer.from(JSON.stringify(header)).toString("base64url");
    const forged = [
      none,
      `${encoded({ alg: "none", typ: "agent+jwt" })}.${payload}.`,
      `${encoded({ alg: "HS256", typ: "agent+jwt" })}.${payload}.AAAA`,
      `${encoded({ alg: "EdDSA", typ: "agent+jwt" })}.${payload}.`,
      `${encoded({ alg: "EdDSA", typ: "agent+jwt" })}.${payload}.AAAA`,
      "a.b",
      "a.b.c.d",
      "....",
      "x".repeat(9000),
      `e30.e30.${"A".repeat(86)}`,
    ];
    for (const jwt of forged) {
      const answer = await send(`${home.url}/agent/status`, { jwt });
      expect(said(answer), jwt.slice(0, 40)).toBe("401 invalid_jwt");
    }
    const es256 = await generateKeyPair("ES256");
    const key = { ...(await newKey()), secret: es256.privateKey };
    const odd = { header: { alg: "ES256" }, key };
    expect(said(await one.asAgent("/agent/status", undefined, odd))).toBe("401 invalid_jwt");
  });

  test("is accepted only once, even if the server restarts", async () => {
    const home = await bank();
    const one = await linked(home);
    const jwt = await one.agentJwt();
    const ask = async ({ url }: Bank) => said(await send(`${url}/agent/status`, { jwt }));
    expect(await ask(home)).toBe("200");
    expect(await ask(home)).toBe("401 jti_replay");
    expect(await lastCodes(home)).toEqual(["jti_replay"]);
    const after = await home.again();
    expect(await ask(after)).toBe("401 jti_replay");
  });

  test("may have as iss the thumbprint of its host's key or the host's id, or have no iss", async () => {
    const home = await bank();
    const one = await linked(home);
    const id = (await home.parties.hostByKey(one.host.thumbprint))?.id;
    for (const iss of [one.host.thumbprint, id, undefined]) {
      expect(said(await one.asAgent("/agent/status", undefined, { claims: { iss } }))).toBe("200");
    }
  });

  test("has the issuer as audience; an execution also accepts the execution endpoint as audience", async () => {
    const home = await bank();
    const one = await linked(home);
    const execution = `${home.url}/capability/execute`;
    const batch = { requests: [{ capability: "list_payees" }] };
    for (const aud of [home.url, [home.url], execution]) {
      const odd = { claims: { aud } };
      expect(said(await one.execute("list_payees", {}, undefined, odd))).toBe("200");
      expect(said(await one.asAgent("/capability/batch-execute", batch, odd))).toBe("200");
    }
    const odd = { claims: { aud: [home.url] } };
    expect(said(await one.asAgent("/agent/status", undefined, odd))).toBe("200");
  });

  test("may come from a clock that is 30 seconds off, and is valid for a minute", async () => {
    const home = await bank();
    const one = await linked(home);
    for (const [iat, exp] of [
      [30, 90] as const,
      [-30, 0] as const,
      [-89, -29] as const,
      [-90, 86_400] as const,
    ]) {
      const claims = { iat: seconds(home) + iat, exp: seconds(home) + exp };
      expect(said(await one.asAgent("/agent/status", undefined, { claims })), `${iat}`).toBe("200");
    }
    // A used JWT is remembered as long as the server would accept it.
    const claims = { iat: seconds(home) + 30, exp: seconds(home) + 3600 };
    const jwt = await one.agentJwt({ claims });
    const ask = async () => said(await send(`${home.url}/agent/status`, { jwt }));
    expect(await ask()).toBe("200");
    home.clock.now += 119_000;
    expect(await ask()).toBe("401 jti_replay");
  });

  test("may have a cnf claim, which the server ignores", async () => {
    const home = await bank();
    const one = await linked(home);
    const odd = { claims: { cnf: { jkt: (await newKey()).thumbprint } } };
    expect(said(await one.asAgent("/agent/status", undefined, odd))).toBe("200");
  });

  test("may name its algorithm Ed25519, as RFC 9864 does", async () => {
    const home = await bank();
    const one = await linked(home);
    const odd = { header: { alg: "Ed25519" } };
    expect(said(await one.asAgent("/agent/status", undefined, odd))).toBe("200");
    expect(said(await one.asHost("/capability/list", undefined, odd))).toBe("200");
  });

  test("with htm, htu or ath is accepted only for the request that these claims name", async () => {
    const home = await bank();
    const one = await linked(home);
    const path = "/agent/status";
    const bound = (claims: object) => one.asAgent(path, undefined, { claims: { ...claims } });
    expect(said(await bound({ htm: "GET", htu: home.url + path }))).toBe("200");
    expect(said(await bound({ htm: "POST" }))).toBe("401 request_binding_mismatch");
    expect(said(await bound({ htu: `${home.url}/agent/x` }))).toBe("401 request_binding_mismatch");
    expect(said(await bound({ htu: path }))).toBe("401 request_binding_mismatch");
    const port = new URL(home.url).port;
    for (const htu of [
      `${home.url}${path}?agent_id=x`,
      `${home.url}${path}#top`,
      `HTTP://127.0.0.1:${port}/agent/./x/../status`,
      `${home.url}/agent/st%61tus`,
    ]) {
      expect(said(await bound({ htu })), htu).toBe("200");
    }
    const odd = { claims: { ath: "AAAA" } };
    const posted = await one.asAgent("/agent/revoke", {}, odd);
    expect(said(posted)).toBe("401 request_binding_mismatch");

    // The hash must be that of the bytes as sent, not of the parsed JSON.
    const body = '{ "capability": "list_payees",\n  "arguments": {} }';
    const execute = async (ath: string, sent?: string): Promise<string> => {
      const jwt = await one.agentJwt({ claims: { ath } });
      const headers = { "Content-Type": "application/json" };
      const init = sent === undefined ? {} : { body: sent, headers };
      return said(await send(`${home.url}/capability/execute`, { method: "POST", jwt, ...init }));
    };
    const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url");
    expect(await execute(hashOf(body), body)).toBe("200");
    const compact = JSON.stringify(JSON.parse(body));
    expect(await execute(hashOf(compact), body)).toBe("401 request_binding_mismatch");
    expect(await execute(hashOf(body), compact)).toBe("401 request_binding_mismatch");
    expect(await execute(hashOf(body))).toBe("401 request_binding_mismatch");
    expect(await execute(hashOf(""))).toBe("400 invalid_request");
  });

  test("is not accepted where a host's JWT is required, and a host's JWT is not accepted where an agent's JWT is required", async () => {
    const home = await bank();
    const one = await linked(home);
    for (const path of [
      "/agent/status",
      "/capability/execute",
      "/agent/request-capability",
      "/agent/register",
      "/host/rotate-key",
      "/agent/claim",
    ]) {
      const json = path === "/agent/status" ? {} : { json: {} };
      const answer = await send(home.url + path, json);
      expect(said(answer), path).toBe("401 authentication_required");
      expect(answer.headers.get("www-authenticate")).toMatch(/^AgentAuth discovery="/);
    }
    for (const path of ["/capability/execute", "/agent/request-capability"]) {
      expect(said(await one.asHost(path, {})), path).toBe("401 invalid_jwt");
    }
    for (const path of [
      "/agent/register",
      "/agent/reactivate",
      "/host/revoke",
      "/host/rotate-key",
    ]) {
      expect(said(await one.asAgent(path, {})), path).toBe("401 invalid_jwt");
    }
  });
});

describe("a host's JWT", () => {
  test("contains the host's key at the first registration, and is checked with that key", async () => {
    const home = await bank();
    const one = await driver(home);
    const other = await newKey();
    const rsa = await exportJWK((await generateKeyPair("RS256")).publicKey);
    const registering = async (claims: NonNullable<Odd["claims"]>) =>
      said(await one.register({}, { odd: { claims } }));
    const secret = { ...one.host.jwk, d: "AAAA" };
    expect(await registering({ host_public_key: undefined })).toBe("401 invalid_jwt");
    expect(await registering({ iss: undefined })).toBe("401 invalid_jwt");
    expect(await registering({ host_jwks_url: "https://x.example" })).toBe("401 invalid_jwt");
    expect(await registering({ host_public_key: other.jwk })).toBe("401 invalid_jwt");
    expect(await registering({ iss: other.thumbprint })).toBe("401 invalid_jwt");
    expect(await registering({ host_public_key: rsa })).toBe("400 unsupported_algorithm");
    expect(await registering({ host_public_key: {} })).toBe("400 invalid_public_key");
    expect(await registering({ host_public_key: secret })).toBe("400 invalid_public_key");
    expect(
      await registering({ host_public_key: undefined, host_jwks_url: "https://x.example" }),
    ).toBe("401 invalid_jwt");
    const p256 = { kty: "EC", crv: "P-256", x: one.host.jwk.x, y: one.host.jwk.x };
    expect(await registering({ agent_public_key: p256 })).toBe("400 unsupported_algorithm");
    expect(await registering({ agent_public_key: undefined })).toBe("400 invalid_public_key");
    const short = { ...one.agent.jwk, x: "AAAA" };
    expect(await registering({ agent_public_key: short })).toBe("400 invalid_public_key");
    expect(await home.parties.hostByKey(one.host.thumbprint)).toBeUndefined();
    expect(await registering({})).toBe("200");
  });

  test("of a registered host is checked with the registered key, whatever key the JWT contains", async () => {
    const home = await bank();
    const one = await linked(home);
    const other = await newKey();
    const swapped = { claims: { host_public_key: other.jwk } };
    expect(said(await one.asHost("/capability/list", undefined, swapped))).toBe("401 invalid_jwt");
    const signed = { ...swapped, key: other };
    expect(said(await one.asHost("/capability/list", undefined, signed))).toBe("401 invalid_jwt");
    expect(said(await one.register({}, { odd: signed }))).toBe("401 invalid_jwt");
    const keyless = { claims: { host_public_key: undefined } };
    expect(said(await one.asHost("/capability/list", undefined, keyless))).toBe("401 invalid_jwt");
    expect(await lastCodes(home)).toEqual(["invalid_jwt"]);
  });

  test("may contain an agent's key in a request that registers no agent", async () => {
    const home = await bank();
    const one = await linked(home);
    const odd = { claims: { agent_public_key: (await newKey()).jwk } };
    const status = `/agent/status?agent_id=${one.agentId}`;
    expect(said(await one.asHost(status, undefined, odd))).toBe("200");
    expect(said(await one.asHost("/capability/list", undefined, odd))).toBe("200");
  });

  test("of an unknown host is refused, and of a known host is accepted only once", async () => {
    const home = await bank();
    const stranger = await driver(home);
    expect(said(await stranger.asHost("/capability/list"))).toBe("401 invalid_jwt");
    expect(said(await stranger.asHost("/agent/status?agent_id=x"))).toBe("401 invalid_jwt");
    expect(said(await stranger.asHost("/host/revoke", {}))).toBe("404 host_not_found");
    const one = await linked(home);
    const jwt = await one.hostJwt();
    const ask = async () => said(await send(`${home.url}/capability/list`, { jwt }));
    expect(await ask()).toBe("200");
    expect(await ask()).toBe("401 jti_replay");
    const without = { claims: { jti: undefined } };
    expect(said(await one.asHost("/capability/list", undefined, without))).toBe("401 invalid_jwt");
  });

  test("of a host that no user made cannot register an agent if allowHosts is false", async () => {
    const home = await bank({ settings: { allowHosts: false } });
    const one = await driver(home);
    const expected = "403 dynamic_host_registration_disabled";
    expect(said(await one.register())).toBe(expected);
  });
});
