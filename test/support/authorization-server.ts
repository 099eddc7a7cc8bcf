import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Provider } from "oidc-provider";
import { CALLBACK, newProvider, signingKey } from "./oauth-provider.js";

/** The users, agents and settings of an authorization server. */
export interface AuthorizationServerOptions {
  /** Users that can sign in, by the `sub` of their tokens. */
  readonly users?: readonly string[];
  /** Agents, by their `client_id`. */
  readonly clients?: readonly string[];
  /** Resource indicators (RFC 8707): the audiences of access tokens. */
  readonly resource: string | readonly string[];
  /** The scopes that clients may request, separated by spaces; by default, `agent`. */
  readonly scope?: string;
  /** The lifetime of access tokens in seconds; by default, 600. */
  readonly lifetime?: number;
  /** The signature algorithm of tokens; by default, `ES256`. */
  readonly algorithm?: "ES256" | "RS256" | "PS256" | "Ed25519";
  /** Redirect targets besides {@link CALLBACK}. */
  readonly redirects?: readonly string[];
  /** Claims of ID tokens about a user, besides `sub`. */
  readonly claimsOf?: (user: string) => Readonly<Record<string, unknown>>;
  /** The authentication methods in ID tokens; by default, ID tokens name none. */
  readonly methodsOf?: (user: string) => {
    readonly acr?: string;
    readonly amr?: readonly string[];
  };
  /** `true` if ID tokens have `auth_time` even when no request asks for it. */
  readonly authTime?: boolean;
}

/** The resource and the scopes of a token request; by default, the first resource and all scopes. */
interface TokenRequest {
  readonly resource?: string;
  readonly scope?: string;
}

/** A real authorization server on loopback, with its own keys. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Returns an access token of the user for the agent, by a sign-in with authorization code and PKCE. */
  tokenFor(user: string, client: string, request?: TokenRequest): Promise<string>;
  /** Returns the ID token of such a sign-in, made for the client. */
  idTokenFor(user: string, client: string): Promise<string>;
  /** Returns an access token of the agent for itself, whose `sub` is the agent. */
  clientToken(client: string, request?: TokenRequest): Promise<string>;
  secretOf(client: string): string;
  /** Replaces the signing key: later tokens are signed with a new key, and only the new key is published. */
  rotateKeys(): Promise<void>;
  /** The number of times that the keys were fetched. */
  readonly jwksFetches: number;
  /** Stops the server; may be called more than once. */
  close(): Promise<void>;
}

/** The password of every user. */
export const PASSWORD = "correct horse battery staple";

const SIGN_IN_PAGE = `<!DOCTYPE html><html lang="en"><title>Sign in</title><form method="post">
<label>User <input name="user" autocomplete="username"></label><label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button></form></html>`;

/** Starts an authorization server (oidc-provider) on a free port of 127.0.0.1. */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions,
): Promise<AuthorizationServer> {
  const { users = [], clients = [], scope = "agent" } = options;
  const resources = typeof options.resource === "string" ? [options.resource] : options.resource;
  const secrets = new Map(clients.map((id) => [id, randomBytes(24).toString("base64url")]));
  let provider: Provider;
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  let jwksFetches = 0;

  const server = createServer((request, response) => {
    if (request.url === "/jwks") jwksFetches += 1;
    const answer = request.url?.startsWith("/interaction/") === true ? signIn : handle;
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.statusCode = 500;
      response.end(String(error));
    });
  });

  async function signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      response.setHeader("Content-Type", "text/html");
      response.end(SIGN_IN_PAGE);
      return;
    }
    const form = new URLSearchParams(await text(request));
    const accountId = form.get("user") ?? "";
    if (!users.includes(accountId) || form.get("password") !== PASSWORD) {
      response.statusCode = 401;
      response.end(`there is no user "${accountId}" with this password`);
      return;
    }
    const login = { accountId, ...options.methodsOf?.(accountId) };
    await provider.interactionFinished(request, response, { login });
  }

  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = addressOf(server.address());
  const issuer = `http://127.0.0.1:${port}`;

  async function useNewKeys(): Promise<void> {
    const { lifetime = 600, redirects = [], claimsOf, authTime = false } = options;
    const settings = { resources, scope, secrets, lifetime, redirects, claimsOf, authTime };
    const key = await signingKey(options.algorithm ?? "ES256");
    provider = await newProvider(issuer, key, settings);
    handle = provider.callback();
  }
  await useNewKeys();

  function secretOf(client: string): string {
    const secret = secrets.get(client);
    if (secret === undefined) throw new TypeError(`there is no client "${client}"`);
    return secret;
  }

  async function tokens(
    client: string,
    form: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const credentials = Buffer.from(`${client}:${secretOf(client)}`).toString("base64");
    const response = await fetch(`${issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams(form),
    });
    const body: unknown = await response.json();
    if (response.ok && typeof body === "object" && body !== null) return { ...body };
    throw new Error(`the authorization server gives no token: ${JSON.stringify(body)}`);
  }

  /** Signs in, and returns all tokens. */
  async function signedIn(
    user: string,
    client: string,
    { resource = resources[0] ?? "", scope: wanted = scope }: TokenRequest = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const verifier = randomBytes(32).toString("base64url");
    const browser = new Browser(issuer);
    const query = new URLSearchParams({
      client_id: client,
      response_type: "code",
      redirect_uri: CALLBACK,
      scope: `openid ${wanted}`,
      resource,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    const form = await browser.redirected(`/auth?${query}`);
    const resume = await browser.redirected(form, { user, password: PASSWORD });
    const code = new URL(await browser.redirected(resume)).searchParams.get("code");
    if (code === null) throw new Error("the sign-in gave no code");
    return tokens(client, {
      grant_type: "authorization_code",
      code,
      code_verifier: verifier,
      redirect_uri: CALLBACK,
      resource,
    });
  }

  return {
    issuer,
    jwksUri: `${issuer}/jwks`,
    get jwksFetches() {
      return jwksFetches;
    },
    tokenFor: async (user, client, request) =>
      textIn(await signedIn(user, client, request), "access_token"),
    idTokenFor: async (user, client) => textIn(await signedIn(user, client), "id_token"),
    clientToken: async (client, { resource = resources[0] ?? "", scope: wanted = scope } = {}) => {
      const form = { grant_type: "client_credentials", resource, scope: wanted };
      return textIn(await tokens(client, form), "access_token");
    },
    secretOf,
    rotateKeys: useNewKeys,
    close: async () => {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A minimal browser that keeps cookies, and returns redirect targets. */
class Browser {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Returns the redirect target of a page, or of a submitted form. */
  async redirected(path: string, form?: Readonly<Record<string, string>>): Promise<string> {
    const response = await fetch(new URL(path, this.#origin), {
      method: form === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie: Array.from(this.#cookies, (pair) => pair.join("=")).join("; ") },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location !== null) return location;
    throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
  }
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (typeof address === "object" && address !== null) return address;
  throw new Error("the authorization server has no port");
}

function textIn(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value === "string") return value;
  throw new Error(`the authorization server gave no ${name}`);
}
