import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOpenIdLogin, type OpenIdLogin } from "../../../src/protocols/approvals/index.js";
import {
  type AuthorizationServer,
  PASSWORD,
  startAuthorizationServer,
} from "../../support/authorization-server.js";
import { startConsole, type TestConsole, type TestConsoleOptions } from "./support.js";
import { type Page, Visitor, words } from "./visitor.js";

const CALLBACK = "http://127.0.0.1:18473/approvals/callback";
const MAIL: Readonly<Record<string, unknown>> = { email: "alice@example.com" };

let provider: AuthorizationServer;
let login: OpenIdLogin;
let console: TestConsole;

beforeAll(async () => {
  provider = await startAuthorizationServer({
    ...{ users: ["alice", "bob"], clients: ["console"], resource: "https://unused.example/" },
    redirects: [CALLBACK],
    claimsOf: (user) => ({ ...MAIL, email_verified: user === "alice", nick: user.toUpperCase() }),
  });
  login = await newLogin();
  console = await withLogin();
});

afterAll(async () => {
  await console.close();
  await provider.close();
});

function newLogin(
  more: Partial<Parameters<typeof createOpenIdLogin>[0]> = {},
): Promise<OpenIdLogin> {
  const { issuer } = provider;
  const clientSecret = provider.secretOf("console");
  return createOpenIdLogin({ issuer, clientId: "console", clientSecret, ...more });
}

/** The provider knows one address for its answers; here they go to wherever the console is. */
function withLogin(
  own: OpenIdLogin = login,
  options: TestConsoleOptions = {},
): Promise<TestConsole> {
  return startConsole({
    ...options,
    login: {
      ...own,
      begin: (_, again) => own.begin(CALLBACK, again),
      finish(answer, state) {
        const there = new URL(CALLBACK);
        there.search = answer.search;
        return own.finish(there, state);
      },
    },
  });
}

/** Signs in at the provider, and gives the address that it sends the browser back to. */
async function atProvider(begun: Page, user: string): Promise<URL> {
  const browser = new Visitor(provider.issuer);
  const form = await browser.once(begun.headers.get("location") ?? "");
  const interaction = form.headers.get("location") ?? "";
  const body = new URLSearchParams({ user, password: PASSWORD });
  const sent = await browser.once(new URL(interaction, provider.issuer).href, {
    method: "POST",
    body,
  });
  const resumed = await browser.once(sent.headers.get("location") ?? "");
  return new URL(resumed.headers.get("location") ?? "");
}

async function signIn(one: Visitor, user: string, path = "/login"): Promise<Page> {
  const begun = await one.once(path);
  expect(begun.status).toBe(303);
  const { search } = await atProvider(begun, user);
  return one.get(`/callback${search}`);
}

describe("sign-in by OpenID Connect", () => {
  test("code flow with PKCE, state and nonce; then the page that was wanted", async () => {
    const one = console.visitor();
    const wanted = await one.once("/device?user_code=BCDF-GHJK");
    const path = (wanted.headers.get("location") ?? "").replace("/approvals", "");
    const begun = await one.once(path);
    const { searchParams: asked } = new URL(begun.headers.get("location") ?? "");
    expect(Object.fromEntries(asked)).toMatchObject({
      ...{ client_id: "console", response_type: "code", scope: "openid" },
      ...{ code_challenge_method: "S256", redirect_uri: CALLBACK },
    });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(asked.get(name)?.length).toBeGreaterThan(40);
    }
    const { search } = await atProvider(begun, "alice");
    const page = await one.get(`/callback${search}`);
    expect(page.path).toBe("/approvals/device?user_code=BCDF-GHJK");
    expect(page.text).toContain("<bdi>alice</bdi>");
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self'");
    const again = await one.get(`/callback${search}`);
    expect(again.status).toBe(400);
    expect(words(again.text)).toContain("This browser has no sign-in under way");
  });

  test("as another user: the provider asks again", async () => {
    const begun = await console.visitor().once("/login?again=1");
    expect(new URL(begun.headers.get("location") ?? "").searchParams.get("prompt")).toBe("login");
  });

  test("in another browser, the answer of the provider is good for nothing", async () => {
    const [one, victim] = [console.visitor(), console.visitor()];
    const { search } = await atProvider(await one.once("/login"), "alice");
    expect((await victim.get(`/callback${search}`)).status).toBe(400);
    // A sign-in of its own does not go with it either.
    await victim.once("/login");
    const page = await victim.get(`/callback${search}`);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("does not belong to this sign-in");
    expect((await victim.once("/grants")).status).toBe(303);
    expect(await console.recorded()).toContain("approval.refused login_refused");
  });

  test("a refusal of the provider, and a code that it does not know", async () => {
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

  test("the principal is the claim that is configured", async () => {
    const named = await withLogin(await newLogin({ principalClaim: "nick" }));
    try {
      const page = await signIn(named.visitor(), "bob");
      expect(page.text).toContain("<bdi>BOB</bdi>");
    } finally {
      await named.close();
    }
  });

  test("an e-mail address counts only where the provider has verified it", async () => {
    const mailed = await withLogin(await newLogin({ principalClaim: "email" }));
    try {
      expect((await signIn(mailed.visitor(), "alice")).text).toContain("alice@example.com");
      const bob = await signIn(mailed.visitor(), "bob");
      expect(bob.status).toBe(403);
      expect(words(bob.text)).toContain("has not verified your e-mail address");
    } finally {
      await mailed.close();
    }
  });

  test("without the claim, there is no sign-in", async () => {
    const other = await withLogin(await newLogin({ principalClaim: "upn" }));
    try {
      const page = await signIn(other.visitor(), "alice");
      expect(page.status).toBe(403);
      expect(words(page.text)).toContain('gave no "upn"');
    } finally {
      await other.close();
    }
  });

  test("where the provider does not answer, or knows no such client, the page says so", async () => {
    const gone = await withLogin(await newLogin({ issuer: "http://127.0.0.1:9" }));
    const wrong = await withLogin(await newLogin({ clientSecret: "not-the-secret" }));
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

describe("options", () => {
  const right = { issuer: "https://login.example", clientId: "console" };
  test.each([
    [{ ...right, issuer: "http://login.example" }, /login.issuer: must be an https: URL/],
    [{ ...right, issuer: "login.example" }, /login.issuer: must be an https: URL/],
    [{ ...right, clientId: "" }, /login.clientId: must be a text/],
    [{ ...right, scopes: ["email"] }, /login.scopes: .*"openid"/],
    [{ ...right, timeout: 0 }, /login.timeout: must be a number/],
    [{ ...right, clientID: "x" }, /login.clientID: unknown member; did you mean "clientId"/],
  ])("%j", async (options, message) => {
    await expect(createOpenIdLogin(options)).rejects.toThrow(message);
  });
});
