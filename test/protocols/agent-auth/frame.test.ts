import { calculateJwkThumbprint, decodeJwt } from "jose";
import { expect, test } from "vitest";
import type { AgentAuthCode } from "../../../src/protocols/agent-auth/index.js";
import { ERROR_STATUS } from "../../../src/protocols/agent-auth/index.js";
import { FULL } from "../../support/size.js";
import { Driver, driver, linked, newKey, proofOf, said, send } from "./driver.js";
import { bank } from "./served-bank.js";

test("a request body must be uncompressed JSON in UTF-8, within the limits of size and depth", async () => {
  const home = await bank({ body: { bytes: 2048, depth: 8 } });
  const one = await linked(home);
  const post = async (body: string, headers: Record<string, string> = {}) =>
    said(
      await send(`${home.url}/agent/request-capability`, {
        method: "POST",
        body,
        jwt: await one.agentJwt(),
        headers: { "Content-Type": "application/json", ...headers },
      }),
    );
  const deep = `${"[".repeat(20)}${"]".repeat(20)}`;
  expect(await post(`{"capabilities":${deep}}`)).toBe("400 invalid_request");
  expect(await post(JSON.stringify({ reason: "x".repeat(3000) }))).toBe("413 payload_too_large");
  expect(await post("{")).toBe("400 invalid_request");
  expect(await post("[]")).toBe("400 invalid_request");
  expect(await post("")).toBe("400 invalid_request");
  expect(await post('{"reason":"\\ud800"}')).toBe("400 invalid_request");
  expect(await post("{}", { "Content-Type": "text/plain" })).toBe("415 unsupported_media_type");
  const charset = { "Content-Type": "application/json; charset=utf-16" };
  expect(await post("{}", charset)).toBe("400 invalid_request");
  expect(await post("{}", { "Content-Encoding": "gzip" })).toBe("400 invalid_request");
  const codes = (await home.events()).flatMap((event) => event.codes ?? []);
  expect(codes).toContain("payload_too_large");
  expect(codes).toContain("unsupported_media_type");
});

test("a request without credentials gets 401 before its body is read", async () => {
  const home = await bank({ body: { bytes: 2048 } });
  const body = "x".repeat(5000);
  const headers = { "Content-Type": "application/json" };
  const answer = await send(`${home.url}/capability/execute`, { method: "POST", body, headers });
  expect(said(answer)).toBe("401 authentication_required");
});

test("a wrong HTTP method gets 405, and Allow lists the allowed methods", async () => {
  const { url } = await bank();
  const deleted = await send(`${url}/agent/register`, { method: "DELETE" });
  expect(said(deleted)).toBe("405 method_not_allowed");
  expect(deleted.headers.get("allow")).toBe("POST");
  const posted = await send(`${url}/capability/list`, { json: {} });
  expect(posted.headers.get("allow")).toBe("GET, HEAD");
  const head = await fetch(`${url}/.well-known/agent-configuration`, { method: "HEAD" });
  expect(head.status).toBe(200);
  expect((await fetch(`${url}/agent/unknown`)).status).toBe(404);
});

test("each agent of a user has its own rate limit, and requests without credentials share one limit per address", async () => {
  const home = await bank({ rate: { requests: 3, seconds: 60 }, public: "*" });
  const one = await linked(home);
  const other = await linked(home);
  for (const expected of ["200", "200", "200", "429 rate_limited"]) {
    expect(said(await one.asAgent("/agent/status"))).toBe(expected);
  }
  expect(said(await other.asAgent("/agent/status"))).toBe("200");
  const anonymous: string[] = [];
  for (const _ of [1, 2, 3, 4]) anonymous.push(said(await send(`${home.url}/capability/list`)));
  expect(anonymous.slice(-1)).toEqual(["429 rate_limited"]);
  const stranger = await driver(home);
  const late = await stranger.register();
  expect(said(late)).toBe("429 rate_limited");
  expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("a JWT that is refused because of the rate limit is not recorded as used", async () => {
  const home = await bank({ rate: { requests: 2, seconds: 60 } });
  const one = await linked(home);
  for (const _ of [1, 2]) expect(said(await one.asAgent("/agent/status"))).toBe("200");
  const jwt = await one.agentJwt();
  const late = await send(`${home.url}/agent/status`, { jwt });
  expect(said(late)).toBe("429 rate_limited");
  const { jti = "" } = decodeJwt(jwt);
  const { jwk } = one.agent;
  const thumbprint = await calculateJwkThumbprint(jwk);
  const use = { scope: `jwt:${thumbprint}`, id: jti, expires: home.clock.now + 60_000 };
  expect(await home.parties.useOnce(use)).toBe("first");
});

test("the number of remembered JWTs per key is limited, and a JWT beyond the limit gets 429", async () => {
  // The limit is 24 JWTs: four processes accept two calls a minute each, and a JWT is remembered for three minutes.
  const home = await bank({ rate: { requests: 2, seconds: 60 } });
  const one = await linked(home);
  const scope = `jwt:${await calculateJwkThumbprint(one.agent.jwk)}`;
  const expires = home.clock.now + 60_000;
  const uses = await Promise.all(
    Array.from({ length: 23 }, (_, at) =>
      home.parties.useOnce({ scope, id: String(at), expires, most: 24 }),
    ),
  );
  expect(new Set(uses)).toEqual(new Set(["first"]));
  const jwt = await one.agentJwt();
  const asked = () => send(`${home.url}/agent/status`, { jwt });
  expect(said(await asked())).toBe("200");
  const full = await one.asAgent("/agent/status");
  expect(said(full)).toBe("429 rate_limited");
  expect(full.headers.get("Retry-After")).toBe("5");
  expect(full.body["message"]).toContain("24 JWTs of this key are remembered");
});

test("requests of pending agents and unlinked hosts count towards the rate limit of their address", async () => {
  const home = await bank({ rate: { requests: 40, seconds: 60 } });
  const host = await newKey();
  const waiting: Driver[] = [];
  for (const name of ["first", "second"]) {
    const one = new Driver(home, host, await newKey());
    expect(said(await one.register({ name })), name).toBe("200");
    waiting.push(one);
  }
  const alone = await driver(home);
  expect(said(await alone.register({ mode: "autonomous" }))).toBe("200");
  expect(said(await alone.asHost("/host/revoke", {}))).toBe("200");
  // The limit of the address still allows 36 calls, by any of the parties.
  const answers: string[] = [];
  for (let at = 0; at < 12; at++) {
    for (const one of waiting) answers.push(said(await one.asAgent("/agent/status")));
    answers.push(said(await alone.asHost("/agent/status")));
  }
  expect(answers).not.toContain("429 rate_limited");
  for (const one of waiting) {
    expect(said(await one.asAgent("/agent/status"))).toBe("429 rate_limited");
  }
  expect(said(await alone.asHost("/agent/status"))).toBe("429 rate_limited");
});

test("a JWT of a pending agent is not remembered as used", async () => {
  const home = await bank();
  const one = await driver(home);
  await one.register();
  const jwt = await one.agentJwt();
  const asked = () => send(`${home.url}/agent/status`, { jwt });
  expect(said(await asked())).toBe("403 agent_pending");
  expect(said(await asked())).toBe("403 agent_pending");
  const { jti = "" } = decodeJwt(jwt);
  const expires = home.clock.now + 60_000;
  const use = { scope: `jwt:${one.agent.thumbprint}`, id: jti, expires };
  expect(await home.parties.useOnce(use)).toBe("first");
});

test("an address that has sent too many invalid JWTs gets 429 for the next JWT", async () => {
  const home = await bank({ rate: { requests: 3, seconds: 60 } });
  const one = await linked(home);
  const other = await driver(home);
  const forged = () => one.asAgent("/agent/status", undefined, { key: other.agent });
  const answers: string[] = [];
  for (const _ of [1, 2, 3, 4]) answers.push(said(await forged()));
  expect(answers).toEqual([
    "401 invalid_jwt",
    "401 invalid_jwt",
    "401 invalid_jwt",
    "429 rate_limited",
  ]);
});

test("the ledger keeps at most 60 refusals of unauthenticated requests from one address", async () => {
  const home = await bank({ rate: { requests: 1000, seconds: 60 } });
  for (let at = 0; at < 70; at++) {
    const answer = await send(`${home.url}/agent/status`, { jwt: "a.b.c" });
    expect(said(answer)).toBe("401 invalid_jwt");
  }
  const refused = (await home.events()).filter(({ codes }) => codes?.includes("invalid_jwt"));
  expect(refused).toHaveLength(60);
});

if (FULL) {
  test("the ledger keeps at most 60 refusals of requests that come from hosts without a user", async () => {
    const home = await bank();
    const waiting = await driver(home);
    const alone = await driver(home);
    expect(said(await waiting.register())).toBe("200");
    expect(said(await alone.register({ mode: "autonomous" }))).toBe("200");
    const enrolling = await newKey();
    for (let at = 0; at < 25; at++) {
      const newcomer = await driver(home);
      const asked = { mode: "autonomous", capabilities: ["fly"] };
      for (const one of [newcomer, waiting, alone]) {
        expect(said(await one.register(asked))).toBe("400 invalid_capabilities");
      }
      expect(said(await alone.request(["fly"]))).toBe("400 invalid_capabilities");
      const proof = await proofOf(home, enrolling, "/host/enroll");
      const json = { token: "host_x.y", public_key: enrolling.jwk, proof };
      const enrolled = await send(`${home.url}/host/enroll`, { json });
      expect(said(enrolled)).toBe("401 enrollment_token_invalid");
    }
    const refused = (await home.events()).filter(({ decision }) => decision === "refused");
    expect(refused).toHaveLength(60);
  });
}

test("addresses that a trusted proxy forwards have separate rate limits; other forwarded addresses are ignored", async () => {
  const rate = { requests: 2, seconds: 60 };
  const asked = async (trustedProxies: readonly string[]): Promise<string[]> => {
    const { url } = await bank({ rate, public: "*", trustedProxies });
    const answers: string[] = [];
    for (const from of ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"]) {
      const headers = { "X-Forwarded-For": from };
      answers.push(said(await send(`${url}/capability/list`, { headers })));
    }
    return answers;
  };
  expect(await asked(["127.0.0.1"])).toEqual(["200", "200", "429 rate_limited", "200"]);
  const one = ["200", "200", "429 rate_limited", "429 rate_limited"];
  expect(await asked([])).toEqual(one);
});

test("no token and no signature of a JWT is in the log or the ledger", async () => {
  const home = await bank();
  const one = await linked(home);
  const token = await one.token("check_balance");
  const jwt = await one.agentJwt();
  await send(`${home.url}/agent/status`, { jwt, headers: { "Proviso-Capability": token } });
  await send(`${home.url}/agent/status`, { jwt });
  const kept = home.logged() + JSON.stringify(await home.events());
  expect(kept).not.toContain(token);
  expect(kept).not.toContain(jwt.split(".")[2]);
  expect(home.logged()).toContain('"binding":"agent-auth"');
  expect(home.logged()).toContain(one.agentId);
});

test("each error code has the HTTP status that the specification gives", () => {
  const text: { readonly [status: string]: readonly AgentAuthCode[] } = {
    400: ["invalid_request", "unknown_constraint_operator", "invalid_capabilities"],
    401: ["invalid_jwt", "authentication_required"],
    403: ["agent_revoked", "agent_expired", "agent_pending", "agent_rejected", "host_revoked"],
    404: ["agent_not_found", "host_not_found", "capability_not_found"],
    409: ["agent_exists", "already_granted"],
    429: ["rate_limited"],
    500: ["internal_error"],
  };
  for (const [status, codes] of Object.entries(text)) {
    for (const code of codes) expect(ERROR_STATUS[code], code).toBe(Number(status));
  }
});
