import type { Authenticator } from "../../agent/caller.js";
import { AUTHENTICATOR, assertHas } from "../../checks/kinds.js";
import { assertMembers } from "../../checks/members.js";

/** The result of a sign-in: the user, or the reason for which the sign-in failed. */
export type LoginOutcome =
  | ({ readonly ok: true } & SignedIn)
  | { readonly ok: false; readonly message: string };

/** A signed-in user, as described by the identity provider's ID token. */
export interface SignedIn {
  readonly principal: string;
  /**
   * The claim `auth_time`: the time at which the user authenticated, in seconds since 1970. Absent if the
   * provider does not report it.
   */
  readonly authTime?: number;
  /** True if the claim `acr` or `amr` has a value that the configuration accepts as proof of presence. */
  readonly present?: boolean;
}

/**
 * The kind of sign-in that is required. `any`: an existing session of the user suffices. `fresh`: the user must
 * enter the credentials again (`prompt=login` and `max_age=0`). `present`: the user must also prove presence
 * (`acr_values`).
 */
export type LoginDemand = "any" | "fresh" | "present";

/** The values that the answer to a sign-in must match. The browser keeps them in a sealed cookie. */
export interface LoginState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The way in which users sign in to the console: through an identity provider, or with a development token. */
export type ConsoleLogin = OpenIdLogin | DevelopmentLogin;

/** Signs users in through an identity provider. Made by {@link createOpenIdLogin}. */
export interface OpenIdLogin {
  readonly kind: "openid";
  /** The identity provider's name, as users know it. */
  readonly issuer: string;
  /** True if {@link SignedIn.present} is known, because values of `acr` or `amr` are configured. */
  readonly checksPresence: boolean;
  /** Maximum difference between the provider's clock and this server's, in seconds. */
  readonly clockSkew: number;
  /**
   * Starts a sign-in. Returns the URL to which the browser must go, and the state to keep.
   *
   * @param callback - The URL to which the identity provider sends the user back.
   * @throws Error if this server cannot reach the identity provider.
   */
  begin(
    callback: string,
    demand: LoginDemand,
  ): Promise<{ readonly url: string; readonly state: LoginState }>;
  /**
   * Completes a sign-in, and returns the user.
   *
   * @param answer - The callback URL with all parameters that the identity provider has added.
   * @throws Error if this server cannot reach the identity provider.
   */
  finish(answer: URL, state: LoginState): Promise<LoginOutcome>;
}

/** Signs users in with development tokens, for trials on one machine. */
export interface DevelopmentLogin {
  readonly kind: "development";
  check(token: string): Promise<LoginOutcome>;
}

/**
 * Creates a sign-in with development tokens. The console accepts it only at a loopback address.
 *
 * @param tokens - An authenticator made by {@link createFixedTokens}.
 * @throws TypeError if `tokens` is not an authenticator.
 */
export function createDevelopmentLogin(tokens: Authenticator): DevelopmentLogin {
  assertHas(tokens, AUTHENTICATOR, "tokens");
  return {
    kind: "development",
    async check(token) {
      const headers = { authorization: `Bearer ${token.trim()}` };
      const found = await tokens.authenticate({ method: "POST", url: "/", headers });
      if (found.ok) return { ok: true, principal: found.caller.principal };
      return { ok: false, message: "That is not one of this agent's development tokens." };
    },
  };
}

/**
 * Values of claims that prove the user's presence. They say that the user was present at the sign-in, or used a
 * separate channel such as a security key. A password alone proves neither. One of the values is enough.
 */
export interface Presence {
  /**
   * Values of the claim `acr`, such as `phr` or `phrh` (OpenID Connect EAP ACR Values 1.0). The sign-in also
   * requests them.
   */
  readonly acr?: readonly string[];
  /** Values of the claim `amr`, such as `hwk`, `user` or `fpt` (RFC 8176). */
  readonly amr?: readonly string[];
}

/** @throws TypeError that names the wrong property. */
export function checkedPresence(presence: Presence): Presence {
  assertMembers(presence, ["acr", "amr"], "login.presence");
  const { acr = [], amr = [] } = presence;
  for (const [name, values] of Object.entries({ acr, amr })) {
    // The authorization request joins the values of `acr` with spaces, so a value must not contain one.
    const texts =
      Array.isArray(values) &&
      values.every((one) => typeof one === "string" && /^[\x21-\x7e]+$/.test(one));
    if (!texts) {
      const what = "must be an array of strings of printable ASCII characters without spaces";
      throw new TypeError(`login.presence.${name}: ${what}`);
    }
  }
  if (acr.length + amr.length === 0) {
    throw new TypeError('login.presence: must name at least one value, in "acr" or "amr"');
  }
  return { acr, amr };
}

/** Returns whether the claims of an ID token have one of the configured values. */
export function isPresent(
  claims: { readonly [claim: string]: unknown },
  { acr = [], amr = [] }: Presence,
): boolean {
  const methods: unknown = claims["amr"];
  return (
    acr.some((one) => claims["acr"] === one) ||
    (Array.isArray(methods) && amr.some((one) => methods.includes(one)))
  );
}
