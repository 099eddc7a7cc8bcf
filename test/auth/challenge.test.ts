import { expect, test } from "vitest";
import type { Authenticator } from "../../src/agent/caller.js";
import { wwwAuthenticate } from "../../src/auth/bearer.js";
import { createJwtAuthenticator } from "../../src/auth/jwt-authenticator.js";
import { denialWith, ISSUER, RESOURCE, requestWith, signer } from "./support.js";

async function authenticator(requiredScope?: string): Promise<Authenticator> {
  const { jwk } = await signer();
  return createJwtAuthenticator({
    issuer: ISSUER,
    audience: RESOURCE,
    jwks: { keys: [jwk] },
    requiredScope,
  });
}

test("wwwAuthenticate names only the realm for a request without credentials", async () => {
  const nobody = await (await authenticator()).authenticate(requestWith());
  expect(nobody.ok ? "" : wwwAuthenticate(nobody.denial, await authenticator())).toBe(
    `Bearer realm="${RESOURCE}"`,
  );
});

test("wwwAuthenticate says what is wrong with bad credentials, and which scope is needed", async () => {
  const checks = await authenticator("agent");
  const challenge = wwwAuthenticate(await denialWith(checks, "abc"), checks);
  expect(challenge).toBe(
    `Bearer realm="${RESOURCE}", scope="agent", error="invalid_token", error_description="` +
      `the access token is not a signed JWT; get a new access token from ${ISSUER} ` +
      `for audience ${RESOURCE} with scope agent"`,
  );
});

test("wwwAuthenticate shows the URL resourceMetadata, and throws a TypeError if resourceMetadata is not a URL", async () => {
  const denial = { code: "token_missing", message: "" } as const;
  const resourceMetadata = 'https://documents.example/.well-known/"x"';
  expect(wwwAuthenticate(denial, await authenticator(), { resourceMetadata })).toBe(
    `Bearer realm="${RESOURCE}", resource_metadata="https://documents.example/.well-known/%22x%22"`,
  );
  const checks = await authenticator();
  expect(() => wwwAuthenticate(denial, checks, { resourceMetadata: "here" })).toThrow(TypeError);
});

test("wwwAuthenticate replaces the characters of a message that could end the quoted string or the line", async () => {
  const checks = await authenticator();
  const message = 'a "b" \\ c\r\nSet-Cookie: d\u2026\u{1f600}\u007f\ud800';
  const challenge = wwwAuthenticate({ code: "token_invalid", message }, checks);
  expect(challenge).toContain(`error_description="a 'b' / c??Set-Cookie: d????"`);
  expect(() => new Headers({ "www-authenticate": challenge })).not.toThrow();
});
