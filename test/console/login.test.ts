import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOpenIdLogin, type OpenIdLogin } from "../../src/console/index.js";
import type { AuthorizationServer } from "../support/authorization-server.js";
import { CALLBACK, consoleWith, loginAt, startProvider, UserAgent } from "./at-provider.js";
import type { TestConsole } from "./support.js";
import { type Page, type Visitor, words } from "./visitor.js";

const MAIL: Readonly<Record<string, unknown>> = { email: "alice@example.com" };

let provider: AuthorizationServer;
let login: OpenIdLogin;
let console: TestConsole;

beforeAll(async () => {
  provider = await startProvider({
    claimsOf: (user) => ({ ...MAIL, email_verified: user === "alice", nick: user.toUpperCase() }),
  });
  login = await newLogin();
  console = await consoleWith(login);
});

afterAll(async () => {
  await console.close();
  await provider.close();
});

const newLogin = (more: Parameters<typeof loginAt>[1] = {}) => loginAt(provider, more);

async function signIn(one: Visitor, user: string): Promise<Page> {
  const begun = await one.once("/login");
  const search = await atProvider(begun, user);
  return one.get(`/callback${search}`);
}

/** Signs in at the provider in a separate browser. @returns The query of the callback. */
function atProvider(begun: Page, user: string): Promise<string> {
  const url = begun.headers.get("location") ?? "";
  return new UserAgent(console, provider).authorize(url, user);
}

describe("sign-in by OpenID Connect", () => {
  test("uses the code flow with PKCE, state and nonce, and returns to the page that the user opened", async () => {
    const one = console.visitor();
    const wanted = await one.once("/device?user_code=BCDF-GHJK");
    const path = (wanted.headers.get("location") ?? "").replace("/approvals", "");
    const begun = await one.once(path);
    const { searchParams: asked } = new URL(begun.headers.get("location") ?? "");
    expect(Object.fromEntries(asked)).toMatchObject({
      client_id: "console",
      response_type: "code",
      scope: "openid",
      code_challenge_method: "S256",
      redirect_uri: CALLBACK,
    });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(asked.get(name)?.length).toBeGreaterThan(40);
    }
    const search = await atProvider(begun, "alice");
    const page = await one.get(`/callback${search}`);
    expect(page.path).toBe("/approvals/device?user_code=BCDF-GHJK");
    expect(page.text).toContain("<bdi>alice</bdi>");
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self'");
    const again = await one.get(`/callback${search}`);
    expect(again.status).toBe(400);
    expect(words(again.text)).toContain("This browser has no sign-in under way");
  });

  test("as another user makes the provider ask for credentials again", async () => {
    const begun = await console.visitor().once("/login?again=1");
    expect(new URL(begun.headers.get("location") ?? "").searchParams.get("prompt")).toBe("login");
  });

  test("is refused if the provider's answer arrives in another browser", async () => {
    const [one, victim] = [console.visitor(), console.visitor()];
    const search = await atProvider(await one.once("/login"), "alice");
    expect((await victim.get(`/callback${search}`)).status).toBe(400);
    // The provider's answer does not match a sign-in that the victim has begun, either.
    await victim.once("/login");
    const page = await victim.get(`/callback${search}`);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("does not belong to this sign-in");
    expect((await victim.once("/grants")).status).toBe(303);
    expect(await console.recorded()).toContain("approval.refused login_refused");
  });

  test("shows an error page for a denied login and for an unknown code", async () => {
    const one = console.visitor();
    const stateOf = async (): Promise<string> => {
      const begun = await one.once("/login");
      return new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? "";
    };
    const iss = provider.issuer;
    const denied = new URLSearchParams({ error: "access_denied", state: await stateOf(), iss });
    const refused = await one.get(`/callback?${denied}`);
    expect(refused.status).toBe(403);
    expect(words(refused.text)).toContain("cancelled or denied");
    const made = new URLSearchParams({ code: "made-up", state: await stateOf(), iss });
    const unknown = await one.get(`/callback?${made}`);
    expect(unknown.status).toBe(403);
    expect(words(unknown.text)).toContain("did not accept the code");
    const twice = await one.get(`/callback?${made}`);
    expect(twice.status).toBe(400);
  });

  test("takes the principal from the configured claim", async () => {
    const named = await consoleWith(await newLogin({ principalClaim: "nick" }));
    try {
      const page = await signIn(named.visitor(), "bob");
      expect(page.text).toContain("<bdi>BOB</bdi>");
    } finally {
      await named.close();
    }
  });

  test("accepts an e-mail address only if the provider verified it", async () => {
    const mailed = await consoleWith(await newLogin({ principalClaim: "email" }));
    try {
      expect((await signIn(mailed.visitor(), "alice")).text).toContain("alice@example.com");
      const bob = await signIn(mailed.visitor(), "bob");
      expect(bob.status).toBe(403);
      expect(words(bob.text)).toContain("has not verified your e-mail address");
    } finally {
      await mailed.close();
    }
  });

  test("is refused if the provider does not give the configured claim", async () => {
    const other = await consoleWith(await newLogin({ principalClaim: "upn" }));
    try {
      const page = await signIn(other.visitor(), "alice");
      expect(page.status).toBe(403);
      expect(words(page.text)).toContain('gave no "upn"');
    } finally {
      await other.close();
    }
  });

  test("answers 503 if the provider does not answer or rejects the client", async () => {
    const gone = await consoleWith(await newLogin({ issuer: "http://127.0.0.1:9" }));
    const wrong = await consoleWith(await newLogin({ clientSecret: "not-the-secret" }));
    try {
      const page = await gone.visitor().get("/login");
      expect(page.status).toBe(503);
      expect(words(page.text)).toContain("The identity provider cannot be reached");
      expect((await signIn(wrong.visitor(), "alice")).status).toBe(503);
      expect(wrong.logged()).toContain("sign-in");
      expect(wrong.logged()).not.toContain("not-the-secret");
    } finally {
      await gone.close();
      await wrong.close();
    }
  });
});

describe("createOpenIdLogin refuses wrong options", () => {
  const right = { issuer: "https://login.example", clientId: "console" };
  test.each([
    [{ ...right, issuer: "http://login.example" }, /login.issuer: must be an https: URL/],
    [{ ...right, issuer: "login.example" }, /login.issuer: must be an https: URL/],
    [{ ...right, clientId: "" }, /login.clientId: must be a non-empty string/],
    [{ ...right, scopes: ["email"] }, /login.scopes: .*"openid"/],
    [{ ...right, timeout: 0 }, /login.timeout: must be a number/],
    [
      { ...right, clockSkew: 61 },
      /login.clockSkew: must be a whole number of seconds from 0 to 60/,
    ],
    [{ ...right, clockSkew: 0.5 }, /login.clockSkew: must be a whole number/],
    [{ ...right, presence: {} }, /login.presence: must name at least one value/],
    [
      { ...right, presence: { amr: ["hwk key"] } },
      /login.presence.amr: must be an array of strings/,
    ],
    [
      { ...right, presence: { amr: ["hwk"], acrs: ["phr"] } },
      /login.presence.acrs: .*did you mean "acr"/,
    ],
    [{ ...right, clientID: "x" }, /login.clientID: unknown property; did you mean "clientId"/],
  ])("%j", async (options, message) => {
    await expect(createOpenIdLogin(options)).rejects.toThrow(message);
  });
});
