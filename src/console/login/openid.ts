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
  /** The issuer identifier, from which the provider's metadata is discovered; `http:` only on loopback. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client, which is protected only by PKCE. */
  readonly clientSecret?: string;
  /** The claim of the ID token that becomes the user's principal; `sub` unless given. */
  readonly principalClaim?: string;
  /** The requested scopes; `["openid"]` unless given. */
  readonly scopes?: readonly string[];
  /** Most seconds that the provider may take for an answer; 10 unless given. */
  readonly timeout?: number;
  /**
   * Proofs of presence, one of which the provider must report for a sign-in that approves a change of data or
   * links a host. Unless given, any sign-in is accepted, even one with only a password.
   */
  readonly presence?: Presence;
  /**
   * Seconds by which the provider's clock may differ from this server's, at most 60; 0 unless given. A sign-in
   * that is older by up to this much still counts as made for an approval.
   */
  readonly clockSkew?: number;
}

type Client = typeof import("openid-client");
type Configuration = import("openid-client").Configuration;

/** Milliseconds after a failure until the provider is asked again. */
const PAUSE = 1000;

/**
 * Signs users in with OpenID Connect: code flow, PKCE, `state`, `nonce`. Needs the package `openid-client`.
 * Metadata is read at the first sign-in.
 *
 * @throws TypeError naming the option that is wrong.
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
    throw new TypeError('login.scopes: must be an array of texts, among them "openid"');
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
  throw new TypeError(`login.${name}: must be a text that is not empty`);
}

function issuerUrl(value: unknown): URL {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === "https:") return url;
  if (url?.protocol === "http:" && isLoopback(url.hostname)) return url;
  throw new TypeError("login.issuer: must be an https: URL, or an http: URL of loopback");
}

/** Returns the provider's metadata; fetched once, and again only after a failure. */
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

/** Returns how the client authenticates: in the header, unless the provider only accepts it in the body. */
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

/** Identifies the user by the claims of a verified ID token. */
function signedInBy(
  claims: { readonly [claim: string]: unknown },
  { principalClaim: name, presence }: Pick<Settings, "principalClaim" | "presence">,
): LoginOutcome {
  const principal = claims[name];
  if (!isIdentity(principal)) {
    const message = `The identity provider gave no "${name}" that is ${IDENTITY}.`;
    return { ok: false, message };
  }
  // Anyone can claim an email address that is not verified.
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
 * Returns the message for the user if a sign-in failed because of the user; `undefined` if the provider or the
 * configuration is at fault.
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
