import { IDENTITY, isIdentity } from "../../auth/identity.js";
import { assertMembers } from "../../checks/members.js";
import { isLoopback } from "../../client/address.js";
import { errorCode } from "../../system/error-code.js";
import {
  checkedPresence,
  isPresent,
  type LoginOutcome,
  type OpenIdLogin,
  type Presence,
} from "./login.js";

/** An identity provider, and the console's registration as its client. */
export interface OpenIdLoginOptions {
  /**
   * The issuer identifier. The provider's metadata is read from a URL below it. `http:` is accepted only on
   * loopback.
   */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client, which only PKCE protects. */
  readonly clientSecret?: string;
  /** The claim of the ID token that becomes the user's principal; `sub` by default. */
  readonly principalClaim?: string;
  /** The scopes to request; `["openid"]` by default. */
  readonly scopes?: readonly string[];
  /** Seconds within which the provider must answer; 10 by default. */
  readonly timeout?: number;
  /**
   * Proofs of presence. A sign-in that approves a change of data, or links a host, must report one of them. By
   * default, every sign-in is accepted, even one with only a password.
   */
  readonly presence?: Presence;
  /**
   * Seconds by which the provider's clock may differ from this server's, from 0 to 60; 0 by default. A sign-in may
   * therefore be up to this many seconds older than the start of the approval.
   */
  readonly clockSkew?: number;
}

type Client = typeof import("openid-client");
type Configuration = import("openid-client").Configuration;

/** After a failure, the provider is asked again only after this many milliseconds. */
const PAUSE = 1000;

/**
 * Creates a sign-in with OpenID Connect: authorization code flow, PKCE, `state` and `nonce`. It needs the
 * package `openid-client`. The provider's metadata is read at the first sign-in.
 *
 * @throws TypeError that names the wrong option.
 */
export async function createOpenIdLogin(login: OpenIdLoginOptions): Promise<OpenIdLogin> {
  const settings = checkedOptions(login);
  const client = await import("openid-client");
  const configuration = provider(client, settings);
  const { issuer, scopes, presence, clockSkew } = settings;
  const { acr = [] } = presence ?? {};
  return {
    kind: "openid",
    issuer: issuer.href,
    checksPresence: presence !== undefined,
    clockSkew,
    async begin(callback, demand) {
      const config = await configuration();
      const verifier = client.randomPKCECodeVerifier();
      const state = { state: client.randomState(), nonce: client.randomNonce(), verifier };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope: scopes.join(" "),
        state: state.state,
        nonce: state.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(demand === "any" ? {} : { prompt: "login", max_age: "0" }),
        ...(demand === "present" && acr.length > 0 ? { acr_values: acr.join(" ") } : {}),
      });
      return { url: url.href, state };
    },
    async finish(answer, { state, nonce, verifier }) {
      const config = await configuration();
      try {
        const tokens = await client.authorizationCodeGrant(config, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return signedInBy(tokens.claims() ?? {}, settings);
      } catch (error) {
        const message = refusalIn(error);
        if (message === undefined) throw error;
        return { ok: false, message };
      }
    },
  };
}

interface Settings {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly principalClaim: string;
  readonly scopes: readonly string[];
  readonly timeout: number;
  readonly presence?: Presence;
  readonly clockSkew: number;
}

/** Largest `clockSkew`, in seconds. */
const MOST_SKEW = 60;
const MEMBERS = [
  "issuer",
  "clientId",
  "clientSecret",
  "principalClaim",
  "scopes",
  "timeout",
  "presence",
  "clockSkew",
];

function checkedOptions(options: OpenIdLoginOptions): Settings {
  assertMembers(options, MEMBERS, "login");
  const { clientSecret, timeout = 10, presence, clockSkew = 0 } = options;
  const scopes = options.scopes ?? ["openid"];
  if (!Array.isArray(scopes) || !scopes.includes("openid")) {
    throw new TypeError('login.scopes: must be an array of strings, among them "openid"');
  }
  if (!Number.isFinite(timeout) || timeout <= 0) {
    throw new TypeError("login.timeout: must be a number of seconds above 0");
  }
  if (!Number.isSafeInteger(clockSkew) || clockSkew < 0 || clockSkew > MOST_SKEW) {
    throw new TypeError(
      `login.clockSkew: must be a whole number of seconds from 0 to ${MOST_SKEW}`,
    );
  }
  return {
    issuer: issuerUrl(options.issuer),
    clientId: text(options.clientId, "clientId"),
    principalClaim: text(options.principalClaim ?? "sub", "principalClaim"),
    scopes: scopes.map((scope) => text(scope, "scopes")),
    timeout,
    clockSkew,
    ...(presence === undefined ? {} : { presence: checkedPresence(presence) }),
    ...(clientSecret === undefined ? {} : { clientSecret: text(clientSecret, "clientSecret") }),
  };
}

function text(value: unknown, name: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`login.${name}: must be a non-empty string`);
}

function issuerUrl(value: unknown): URL {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === "https:") return url;
  if (url?.protocol === "http:" && isLoopback(url.hostname)) return url;
  throw new TypeError("login.issuer: must be an https: URL, or an http: URL of loopback");
}

/** Returns a function that reads the provider's metadata once. After a failure, the function tries again. */
function provider(client: Client, settings: Settings): () => Promise<Configuration> {
  const { issuer, clientId, clientSecret, timeout } = settings;
  let asked: Promise<Configuration> | undefined;
  const ask = async (): Promise<Configuration> => {
    const checks = [client.enableNonRepudiationChecks];
    return client.discovery(issuer, clientId, undefined, authentication(client, clientSecret), {
      execute: issuer.protocol === "http:" ? [client.allowInsecureRequests, ...checks] : checks,
      timeout,
    });
  };
  return () => {
    if (asked !== undefined) return asked;
    asked = ask();
    asked.catch(() => {
      setTimeout(() => {
        asked = undefined;
      }, PAUSE).unref();
    });
    return asked;
  };
}

/**
 * Returns the way in which the client authenticates: in the header, unless the provider only accepts the
 * request body.
 */
function authentication(
  client: Client,
  secret: string | undefined,
): import("openid-client").ClientAuth {
  if (secret === undefined) return client.None();
  return (server, metadata, body, headers) => {
    const known = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const inHeader = known.includes("client_secret_basic");
    const prove = inHeader ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
    prove(server, metadata, body, headers);
  };
}

/** Reads the user from the claims of a verified ID token. */
function signedInBy(
  claims: { readonly [claim: string]: unknown },
  { principalClaim: name, presence }: Pick<Settings, "principalClaim" | "presence">,
): LoginOutcome {
  const principal = claims[name];
  if (!isIdentity(principal)) {
    const message = `The identity provider gave no "${name}" that is ${IDENTITY}.`;
    return { ok: false, message };
  }
  // If an email address is not verified, anyone may have claimed it.
  if (name === "email" && claims["email_verified"] !== true) {
    return { ok: false, message: "The identity provider has not verified your e-mail address." };
  }
  const { auth_time: authTime } = claims;
  return {
    ok: true,
    principal,
    ...(typeof authTime === "number" ? { authTime } : {}),
    ...(presence === undefined ? {} : { present: isPresent(claims, presence) }),
  };
}

/**
 * Returns the message for the user if the user caused the failure of a sign-in. Returns `undefined` if the
 * provider or the configuration caused it.
 */
function refusalIn(error: unknown): string | undefined {
  const code = errorCode(error);
  const said =
    typeof error === "object" && error !== null ? Reflect.get(error, "error") : undefined;
  if (code === "OAUTH_AUTHORIZATION_RESPONSE_ERROR") {
    return said === "access_denied"
      ? "The identity provider reports that the sign-in was cancelled or denied."
      : "The identity provider refused the sign-in.";
  }
  if (code === "OAUTH_RESPONSE_BODY_ERROR" && said === "invalid_grant") {
    return "The identity provider did not accept the code of the sign-in.";
  }
  if (code === "OAUTH_INVALID_RESPONSE" || code.startsWith("OAUTH_JWT_")) {
    return "The answer of the identity provider does not belong to this sign-in.";
  }
  return undefined;
}
