import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import type { Authenticator } from "../../src/agent/caller.js";
import { createJwtAuthenticator } from "../../src/auth/jwt-authenticator.js";
import type { JwtAuthenticatorOptions } from "../../src/auth/jwt-options.js";
import type { AuthorizationServer } from "../support/authorization-server.js";
import {
  authorizationServer,
  denialWith,
  ISSUER,
  RESOURCE,
  requestWith,
  signer,
} from "./support.js";

function checking(
  { issuer, jwksUri }: AuthorizationServer,
  options: Partial<JwtAuthenticatorOptions> = {},
): Promise<Authenticator> {
  return createJwtAuthenticator({ issuer, audience: RESOURCE, jwks: jwksUri, ...options });
}

test.each(["ES256", "RS256", "PS256", "Ed25519"] as const)(
  "if a token is signed with %s, its user is the principal and its agent is the invoker",
  async (algorithm) => {
    const server = await authorizationServer({ algorithm });
    const authenticator = await checking(server);
    const bearer = `Bearer ${await server.tokenFor("alice", "orchestrator")}`;
    const caller = { principal: "alice", invoker: "orchestrator" };
    expect(await authenticator.authenticate(requestWith(bearer))).toEqual({ ok: true, caller });
    expect(await authenticator.authenticate(requestWith(bearer))).toEqual({ ok: true, caller });
  },
);

test("the user of a token is the caller's principal, and the agent of the token is the caller's invoker", async () => {
  const server = await authorizationServer();
  const authenticator = await checking(server);
  for (const [principal, invoker] of [
    ["alice", "calendar"],
    ["bob", "orchestrator"],
  ] as const) {
    const token = await server.tokenFor(principal, invoker);
    const result = await authenticator.authenticate(requestWith(`bearer ${token}`));
    expect(result).toEqual({ ok: true, caller: { principal, invoker } });
  }
});

test("an agent that acts on its own behalf is its own principal", async () => {
  const server = await authorizationServer();
  const token = await server.clientToken("calendar");
  const result = await (await checking(server)).authenticate(requestWith(`Bearer ${token}`));
  expect(result).toEqual({ ok: true, caller: { principal: "calendar", invoker: "calendar" } });
});

test("a token for another audience is refused", async () => {
  const other = "https://calendar.example/";
  const server = await authorizationServer({ resource: [RESOURCE, other] });
  const token = await server.tokenFor("alice", "orchestrator", { resource: other });
  expect(await denialWith(await checking(server), token)).toEqual({
    code: "token_invalid",
    message:
      `the access token is for the audience ("aud") "${other}", not "${RESOURCE}"; ` +
      `get a new access token from ${server.issuer} for audience ${RESOURCE}`,
  });
  expect(
    (
      await (
        await checking(server, { audience: other })
      ).authenticate(requestWith(`Bearer ${token}`))
    ).ok,
  ).toBe(true);
});

test("a token of another issuer is refused because its key is unknown, or because of its issuer claim if its key is known", async () => {
  const [server, other] = [await authorizationServer(), await authorizationServer()];
  const token = await other.clientToken("calendar");
  const byKey = await denialWith(await checking(server), token);
  expect(byKey.message).toMatch(/^the access token is signed with a key that .*\("kid"\); get/);
  const jwks = other.jwksUri;
  const byName = await denialWith(await checking(server, { jwks }), token);
  expect(byName.code).toBe("token_invalid");
  expect(byName.message).toContain(`issuer ("iss") "${other.issuer}", not "${server.issuer}"`);
});

test("an ID token in place of an access token is refused", async () => {
  const server = await authorizationServer();
  const token = await server.idTokenFor("alice", "orchestrator");
  const denial = await denialWith(await checking(server, { audience: "orchestrator" }), token);
  expect(denial.message).toMatch(/\("typ"\).*ID token/);
  // If the type is not checked, the audience, which is the agent itself, still shows that the token is an ID token.
  const any = await denialWith(await checking(server, { type: "any" }), token);
  expect(any.message).toContain('("aud") "orchestrator"');
});

test("an expired token is refused once the clock tolerance has passed, even if the token was cached", async () => {
  const server = await authorizationServer({ lifetime: 30 });
  let now = Date.now();
  const clock = () => now;
  const authenticator = await checking(server, { clock });
  const strict = await checking(server, { clock, clockTolerance: 0 });
  const token = await server.tokenFor("alice", "orchestrator");
  const { exp = 0 } = decodeJwt(token);
  for (const seconds of [-29, -2]) {
    now = (exp + seconds) * 1000;
    expect((await authenticator.authenticate(requestWith(`Bearer ${token}`))).ok).toBe(true);
    expect((await strict.authenticate(requestWith(`Bearer ${token}`))).ok).toBe(true);
  }
  now = (exp + 2) * 1000;
  expect((await authenticator.authenticate(requestWith(`Bearer ${token}`))).ok).toBe(true);
  expect((await denialWith(strict, token)).message).toMatch(/expired at \d{4}-.*Z \("exp"\)/);
  now = (exp + 7) * 1000;
  expect((await denialWith(authenticator, token)).code).toBe("token_invalid");
});

test("a token without the required scope is refused", async () => {
  const server = await authorizationServer({ scope: "documents calendar" });
  const authenticator = await checking(server, { requiredScope: "documents" });
  expect(authenticator.scope).toBe("documents");
  const good = await server.clientToken("calendar", { scope: "calendar documents" });
  expect((await authenticator.authenticate(requestWith(`Bearer ${good}`))).ok).toBe(true);
  const poor = await server.clientToken("calendar", { scope: "calendar" });
  expect((await denialWith(authenticator, poor)).message).toMatch(
    /lacks the scope "documents" \("scope"\); get .* with scope documents$/,
  );
});

test("a request without a token gets the answer token_missing, with advice on where to get a token", async () => {
  const server = await authorizationServer();
  const authenticator = await checking(server);
  const result = await authenticator.authenticate(requestWith());
  expect(result.ok ? undefined : result.denial).toEqual({
    code: "token_missing",
    message:
      "there is no Authorization header; " +
      `get a new access token from ${server.issuer} for audience ${RESOURCE}`,
  });
  expect([authenticator.issuer, authenticator.audience]).toEqual([server.issuer, RESOURCE]);
  expect(server.jwksFetches).toBe(0);
});

test.each<[string, object]>([
  ["issuer: must be a non-empty string", { issuer: "" }],
  ["audience: must be a non-empty string", { audience: undefined }],
  ['algorithms: "HS256" is not one of RS256', { algorithms: ["ES256", "HS256"] }],
  ['algorithms: "none" is not one of RS256', { algorithms: ["none"] }],
  ['did you mean "Ed25519"?', { algorithms: ["ED25519"] }],
  ["algorithms: must be an array of at least one", { algorithms: [] }],
  ['type: must be "at+jwt" or "any"', { type: "jwt" }],
  ["clockTolerance: must be 0 to 300", { clockTolerance: 3600 }],
  ["clockTolerance: must be 0 to 300", { clockTolerance: Number.NaN }],
  ["requiredScope: must be one scope", { requiredScope: "a b" }],
  ['requiredScopes: unknown property; did you mean "requiredScope"?', { requiredScopes: "a" }],
  [
    "jwks: http: is for loopback only; use https://login.example",
    { jwks: "http://login.example/k" },
  ],
  ["jwks: ftp: cannot be fetched", { jwks: "ftp://login.example/k" }],
  ["must not hold a user name", { jwks: "https://a:b@login.example/k" }],
  ["jwks: it has no key", { jwks: { keys: [] } }],
  ["jwks: it is not a JWK Set", { jwks: { keys: "x" } }],
  ["jwks: keys[0] is not a JWK", { jwks: { keys: [{}] } }],
  ["jwks: keys[0] is not a public key", { jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] } }],
  ["jwksTimeout must be a number", { jwks: "https://login.example/k", jwksTimeout: -1 }],
])(
  "createJwtAuthenticator refuses wrong options with the message: %s",
  async (expected, options) => {
    const { jwk } = await signer();
    const good = { issuer: ISSUER, audience: RESOURCE, jwks: { keys: [jwk] } };
    const made = createJwtAuthenticator({ ...good, ...options });
    await expect(made).rejects.toThrow(expected);
    await expect(made).rejects.toBeInstanceOf(TypeError);
  },
);

test.each(["jose", "lru-cache"])(
  "without the package %s, proviso/auth loads, and createJwtAuthenticator says how to install the package",
  (absent) => {
    const hiding = `
    import { register } from "node:module";
    register("data:text/javascript," + encodeURIComponent(\`
      export async function resolve(specifier, context, next) {
        if (specifier !== "${absent}") return next(specifier, context);
        throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
      }\`));`;
    const program = `
    await import("./dist/src/auth/index.js");
    const { createJwtAuthenticator } =
      await import("./dist/src/auth/jwt-authenticator.js");
    const options = { issuer: "a", audience: "b", jwks: { keys: [] } };
    await createJwtAuthenticator(options).catch((error) => console.log(error.message));`;
    const output = execFileSync(
      process.execPath,
      [
        "--import",
        `data:text/javascript,${encodeURIComponent(hiding)}`,
        "--input-type=module",
        "--eval",
        program,
      ],
      { encoding: "utf8", cwd: fileURLToPath(new URL("../..", import.meta.url)) },
    );
    expect(output.trim()).toBe(
      "access tokens need the packages jose and lru-cache, and one cannot be loaded: npm install jose lru-cache",
    );
  },
);
