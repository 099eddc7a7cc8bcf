import { createHmac, createPublicKey } from "node:crypto";
import { createServer } from "node:http";
import { type JWK, SignJWT } from "jose";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { Authenticator } from "../../src/agent/caller.js";
import { createJwtAuthenticator } from "../../src/auth/jwt-authenticator.js";
import {
  authorizationServer,
  type Claims,
  denialWith,
  ISSUER,
  RESOURCE,
  requestWith,
  type Signer,
  signer,
} from "./support.js";

let good: Signer;
let authenticator: Authenticator;

beforeAll(async () => {
  good = await signer();
  authenticator = await checking([good.jwk]);
});

function checking(keys: readonly JWK[], options: object = {}): Promise<Authenticator> {
  return createJwtAuthenticator({
    issuer: ISSUER,
    audience: RESOURCE,
    jwks: { keys },
    ...options,
  });
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Returns the token's three parts. */
async function parts(): Promise<[header: string, payload: string, signature: string]> {
  const [header = "", payload = "", signature = ""] = (await good.sign()).split(".");
  return [header, payload, signature];
}

function claimsIn(payload: string): Claims {
  return JSON.parse(Buffer.from(payload, "base64url").toString());
}

test("a token with a valid signature and valid claims is accepted", async () => {
  const result = await authenticator.authenticate(requestWith(`Bearer ${await good.sign()}`));
  expect(result).toEqual({ ok: true, caller: { principal: "alice", invoker: "orchestrator" } });
});

test("a token with changed claims is refused for its signature", async () => {
  const [header, payload, signature] = await parts();
  const changed = encoded({ ...claimsIn(payload), sub: "bob" });
  const { message } = await denialWith(authenticator, `${header}.${changed}.${signature}`);
  expect(message).toMatch(/^the access token has a signature that does not hold; get a new/);
});

test("a token with a flipped bit in its signature, or with a missing or added part, is refused", async () => {
  const [header, payload, signature] = await parts();
  const bytes = Buffer.from(signature, "base64url");
  for (let at = 0; at < bytes.length; at += 7) {
    const other = Buffer.from(bytes);
    other[at] = (other[at] ?? 0) ^ 1;
    const token = `${header}.${payload}.${other.toString("base64url")}`;
    expect((await denialWith(authenticator, token)).code).toBe("token_invalid");
  }
  for (const token of [
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${header}.${payload}.${signature}.`,
    `.${payload}.${signature}`,
    `${header}..${signature}`,
    `${header}.${payload}.${signature}=`,
  ]) {
    expect((await denialWith(authenticator, token)).code).toBe("token_invalid");
  }
});

test.each(["none", "None", "NONE", "nOnE"])(
  "an unsigned token with alg %s is refused",
  async (alg) => {
    const [, payload] = await parts();
    const header = encoded({ alg, typ: "at+jwt", kid: good.jwk.kid });
    const unsigned = await denialWith(authenticator, `${header}.${payload}.`);
    expect(unsigned.message).toMatch(/accepted algorithm \("alg"\): RS256/);
  },
);

test.each(["HS256", "HS384", "HS512"])(
  "a token signed with %s, with the server's public key as the HMAC secret, is refused",
  async (alg) => {
    const server = await authorizationServer();
    const set: { readonly keys: readonly [JWK] } = JSON.parse(
      await (await fetch(server.jwksUri)).text(),
    );
    const [jwk] = set.keys;
    const key = createPublicKey({ key: { ...jwk }, format: "jwk" });
    const checks = await createJwtAuthenticator({
      issuer: server.issuer,
      audience: RESOURCE,
      jwks: server.jwksUri,
    });
    const [, payload = ""] = (await server.clientToken("calendar")).split(".");
    for (const secret of [
      key.export({ type: "spki", format: "pem" }),
      key.export({ type: "spki", format: "der" }),
      JSON.stringify(jwk),
    ]) {
      const input = `${encoded({ alg, typ: "at+jwt", kid: jwk.kid })}.${payload}`;
      const mac = createHmac(alg.replace("HS", "sha"), secret).update(input).digest("base64url");
      expect((await denialWith(checks, `${input}.${mac}`)).message).toContain('("alg")');
    }
  },
);

test("a key that the token itself contains or links to is never used", async () => {
  const mallory = await signer();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end(JSON.stringify({ keys: [{ ...mallory.jwk, kid: good.jwk.kid }] }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const url = `http://127.0.0.1:${port}/jwks`;
  for (const header of [
    { jwk: mallory.jwk },
    { jku: url },
    { x5u: url },
    { jwk: mallory.jwk, kid: good.jwk.kid },
    { jku: url, kid: good.jwk.kid },
    { kid: "../../../etc/passwd" },
    { kid: undefined, jwk: mallory.jwk },
  ]) {
    const token = await mallory.sign({}, header);
    expect((await denialWith(authenticator, token)).code).toBe("token_invalid");
  }
  expect(asked).toEqual([]);
});

test("a token with a critical header that the authenticator does not know is refused", async () => {
  const [, payload] = await parts();
  const header = encoded({ alg: "ES256", typ: "at+jwt", crit: ["x"], x: 1, kid: good.jwk.kid });
  const { message } = await denialWith(authenticator, `${header}.${payload}.AAAA`);
  expect(message).toMatch(/is not a signed JWT/);
});

test.each(["JWT", "at+jwt+x", "dpop+jwt", undefined])(
  "the token type %s is refused, unless the authenticator accepts any type",
  async (typ) => {
    const token = await good.sign({}, { typ });
    expect((await denialWith(authenticator, token)).message).toContain('("typ")');
    const any = await checking([good.jwk], { type: "any" });
    expect((await any.authenticate(requestWith(`Bearer ${token}`))).ok).toBe(true);
  },
);

test.each(["AT+JWT", "application/at+jwt"])("the token type %s is accepted", async (typ) => {
  const token = await good.sign({}, { typ });
  expect((await authenticator.authenticate(requestWith(`Bearer ${token}`))).ok).toBe(true);
});

const SOON = Math.floor(Date.now() / 1000) + 600;

test.each<[string, Claims]>([
  ['has no "exp"', { exp: undefined }],
  ['has no "iat"', { iat: undefined }],
  ['has no "aud"', { aud: undefined }],
  ['has no "iss"', { iss: undefined }],
  ['("iss") "https://login.example/"', { iss: `${ISSUER}/` }],
  ['("aud") ["https://documents.example"]', { aud: ["https://documents.example"] }],
  ["is not valid before", { nbf: SOON }],
  ["in the future, at 20", { iat: SOON }],
  ["expired at 1970-01-01T00:00:01Z", { exp: 1 }],
  ["expired at no time", { exp: -1e300 }],
  ['is bound to a key ("cnf")', { cnf: { jkt: "x" } }],
  ['has no "client_id" or "azp"', { client_id: undefined }],
  ['has no good "client_id"', { client_id: "" }],
  ['has no good "client_id"', { client_id: null, azp: "orchestrator" }],
  ['has no good "client_id"', { client_id: ["orchestrator"] }],
  ['has no good "client_id"', { client_id: "a".repeat(257) }],
  ['has no good "azp"', { client_id: undefined, azp: 7 }],
  ['has no good "sub"', { sub: undefined }],
  ['has no good "sub"', { sub: "" }],
  ['has no good "sub"', { sub: "alice\nbob" }],
  ['has no good "sub"', { sub: "\ud800" }],
  ['has no good "sub"', { sub: "a".repeat(257) }],
])("a token is refused with a message that contains: %s", async (expected, claims) => {
  const { code, message } = await denialWith(authenticator, await good.sign(claims));
  expect(code).toBe("token_invalid");
  expect(message).toContain(expected);
  expect(message).toContain(`get a new access token from ${ISSUER} for audience ${RESOURCE}`);
});

test.each<[string, Claims, object, string, string]>([
  ["a sub of 256 characters", { sub: "s".repeat(256), client_id: "c" }, {}, "s".repeat(256), "c"],
  ["azp without client_id", { client_id: undefined, azp: "a" }, {}, "alice", "a"],
  [
    "both azp and client_id, of which client_id names the invoker,",
    { azp: "a" },
    {},
    "alice",
    "orchestrator",
  ],
  [
    "the claims that principalClaim and invokerClaim name",
    { oid: "o", app: "p" },
    { principalClaim: "oid", invokerClaim: "app" },
    "o",
    "p",
  ],
  [
    "several audiences that include the service",
    { aud: ["x", RESOURCE] },
    {},
    "alice",
    "orchestrator",
  ],
])("a token with %s is accepted", async (_, claims, options, principal, invoker) => {
  const token = await good.sign(claims);
  const result = await (await checking([good.jwk], options)).authenticate(
    requestWith(`Bearer ${token}`),
  );
  expect(result).toEqual({ ok: true, caller: { principal, invoker } });
});

test("a token without the claim that the option invokerClaim names is refused, even if the token has client_id", async () => {
  const checks = await checking([good.jwk], { invokerClaim: "app" });
  expect((await denialWith(checks, await good.sign())).message).toContain('has no "app"');
  const inherited = await checking([good.jwk], { invokerClaim: "constructor" });
  expect((await denialWith(inherited, await good.sign())).message).toContain("names no client");
});

test("a token with an algorithm that the option algorithms does not list, or that does not fit its key, is refused", async () => {
  const checks = await checking([good.jwk], { algorithms: ["RS256"] });
  expect((await denialWith(checks, await good.sign())).message).toMatch(/\("alg"\): RS256;/);
  const [, payload] = await parts();
  const header = encoded({ alg: "ES384", typ: "at+jwt", kid: good.jwk.kid });
  const { message } = await denialWith(authenticator, `${header}.${payload}.AAAA`);
  expect(message).toContain('("kid")');
});

test("a token without a key id is accepted if the authenticator has only one key, and refused if it has two", async () => {
  const other = await signer();
  const token = await good.sign({}, { kid: undefined });
  expect((await authenticator.authenticate(requestWith(`Bearer ${token}`))).ok).toBe(true);
  const two = await checking([good.jwk, other.jwk]);
  expect((await denialWith(two, token)).message).toContain("does not say which of several keys");
});

test("a string that is not a JWT signed with an accepted algorithm is refused", async () => {
  const nested = await new SignJWT({}).setProtectedHeader({ alg: "HS256" }).sign(Buffer.alloc(32));
  for (const token of [
    "opaque-token-0123456789",
    "a.b.c",
    `${encoded({ alg: "dir", enc: "A256GCM" })}.e30.e30.e30.e30`,
    `${encoded("text")}.${encoded({})}.AAAA`,
    nested,
    "....",
    "a".repeat(8000),
  ]) {
    expect((await denialWith(authenticator, token)).code).toBe("token_invalid");
  }
});

test("a very long claim is shortened in the message of the refusal", async () => {
  const { message } = await denialWith(authenticator, await good.sign({ aud: "x".repeat(4000) }));
  expect(message.length).toBeLessThan(400);
});
