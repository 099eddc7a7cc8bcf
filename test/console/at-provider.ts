import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { createOpenIdLogin, type OpenIdLogin } from "../../src/console/index.js";
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  PASSWORD,
  startAuthorizationServer,
} from "../support/authorization-server.js";
import { startConsole, type TestConsole, type TestConsoleOptions } from "./support.js";
import { type Page, Visitor } from "./visitor.js";

/** The redirect URI that the provider knows. The console of a test listens on another port. */
export const CALLBACK = "http://127.0.0.1:18473/approvals/callback";

/** Starts a real identity provider (oidc-provider). It knows the console as the client `console`. */
export function startProvider(
  options: Partial<AuthorizationServerOptions> = {},
): Promise<AuthorizationServer> {
  return startAuthorizationServer({
    users: ["alice", "bob"],
    clients: ["console"],
    resource: "https://unused.example/",
    redirects: [CALLBACK],
    ...options,
  });
}

/** Creates a sign-in at a provider for the console. */
export function loginAt(
  provider: AuthorizationServer,
  more: Partial<Parameters<typeof createOpenIdLogin>[0]> = {},
): Promise<OpenIdLogin> {
  const { issuer } = provider;
  const clientSecret = provider.secretOf("console");
  return createOpenIdLogin({ issuer, clientId: "console", clientSecret, ...more });
}

/**
 * Starts a console with this sign-in. The provider redirects to a fixed address, and the tests send that
 * request to the console.
 */
export function consoleWith(
  own: OpenIdLogin,
  options: TestConsoleOptions = {},
): Promise<TestConsole> {
  return startConsole({
    ...options,
    login: {
      ...own,
      begin: (_, demand) => own.begin(CALLBACK, demand),
      finish(answer, state) {
        const there = new URL(CALLBACK);
        there.search = answer.search;
        return own.finish(there, state);
      },
    },
  });
}

/** A browser, with the cookies of the console and of the identity provider. */
export class UserAgent {
  readonly visitor: Visitor;
  readonly #provider: Visitor;
  /** Number of times that the provider has asked for credentials. */
  asked = 0;

  constructor(console: Pick<TestConsole, "visitor">, provider: AuthorizationServer) {
    this.visitor = console.visitor();
    this.#provider = new Visitor(provider.issuer);
  }

  /**
   * Opens an authorization request, and signs in if the provider asks for credentials. @returns The query of
   * the callback.
   */
  async authorize(url: string, user: string): Promise<string> {
    const first = await this.#provider.once(url);
    const to = new URL(first.headers.get("location") ?? "", url);
    if (!to.pathname.startsWith("/interaction/")) return to.search;
    this.asked += 1;
    // If a user signs in twice within the same second, both sign-ins have the same `auth_time`.
    if (/prompt=login|max_age=0/.test(url)) await nextSecond();
    const body = new URLSearchParams({ user, password: PASSWORD });
    const sent = await this.#provider.once(to.href, { method: "POST", body });
    const resumed = await this.#provider.once(sent.headers.get("location") ?? "");
    return new URL(resumed.headers.get("location") ?? "").search;
  }

  /** Signs the user in to the console. */
  async signIn(user: string, path = "/login"): Promise<Page> {
    const begun = await this.visitor.once(path);
    expect(begun.status).toBe(303);
    const search = await this.authorize(begun.headers.get("location") ?? "", user);
    return this.visitor.get(`/callback${search}`);
  }

  /** Signs in again, as a page of the console requires, to confirm an action. */
  async confirm(page: Page, user: string): Promise<Page> {
    return this.visitor.get(`/callback${await this.authorize(signInUrl(page), user)}`);
  }
}

/** Waits for the next second, so that everything so far has an earlier timestamp. */
export async function nextSecond(): Promise<void> {
  await pause(1010 - (Date.now() % 1000));
}

/** Returns the URL for signing in that a page shows. */
export function signInUrl({ text }: Page): string {
  const href = /<a class="button main" href="([^"]*)"/.exec(text)?.[1];
  if (href === undefined) throw new Error(`the page asks for no sign-in: ${text}`);
  return href.replaceAll("&amp;", "&");
}
