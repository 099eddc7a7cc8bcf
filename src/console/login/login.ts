import type { Authenticator } from "../../agent/caller.js";
import { AUTHENTICATOR, assertHas } from "../../checks/kinds.js";
import { assertMembers } from "../../checks/members.js";

/** The signed-in user, or the reason why the sign-in failed. */
export type LoginOutcome =
  | ({ readonly ok: true } & SignedIn)
  | { readonly ok: false; readonly message: string };

/** A signed-in user, according to the identity provider's ID token. */
export interface SignedIn {
  readonly principal: string;
  /** The claim `auth_time`: when the user authenticated, in seconds since 1970. Absent if the provider does not say. */
  readonly authTime?: number;
  /** True if the claim `acr` or `amr` has a value that the configuration accepts as proof of presence. */
  readonly present?: boolean;
}

/**
 * The required sign-in: any existing session of the user (`any`); credentials entered again, by `prompt=login`
 * and `max_age=0` (`fresh`); or in addition a proof of presence, by `acr_values` (`present`).
 */
export type LoginDemand = "any" | "fresh" | "present";

/** The values that the answer to a sign-in must match; kept in the browser in a sealed cookie. */
export interface LoginState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The way in which users sign in to the console: at an identity provider, or with a development token. */
export type ConsoleLogin = OpenIdLogin | DevelopmentLogin;

/** Sign-in at an identity provider. Made by {@link createOpenIdLogin}. */
export interface OpenIdLogin {
  readonly kind: "openid";
  /** The name by which users know the identity provider. */
  readonly issuer: string;
  /** True if {@link SignedIn.present} is determined, because values of `acr` or `amr` are configured. */
  readonly checksPresence: boolean;
  /** Most seconds by which the provider's clock may differ from this server's. */
  readonly clockSkew: number;
  /**
   * Returns the URL to which the user is sent to sign in.
   *
   * @param callback - The URL to which the identity provider sends the user back.
   * @throws Error if the identity provider cannot be reached.
   */
  begin(
    callback: string,
    demand: LoginDemand,
  ): Promise<{ readonly url: string; readonly state: LoginState }>;
  /**
   * Completes a sign-in, and returns the user.
   *
   * @param answer - The callback URL with all parameters that the identity provider added.
   * @throws Error if the identity provider cannot be reached.
   */
  finish(answer: URL, state: LoginState): Promise<LoginOutcome>;
}

/** Sign-in with a token that stands for a user, for trials on one machine. */
export interface DevelopmentLogin {
  readonly kind: "development";
  check(token: string): Promise<LoginOutcome>;
}

/**
 * Signs users in by development tokens, on a loopback address.
 *
 * @param tokens - The authenticator made by {@link createFixedTokens}.
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
 * Values that prove that the user was present at the sign-in or used a separate channel, such as a security
 * key; a password alone proves neither. One value is enough.
 */
export interface Presence {
  /**
   * Values of the claim `acr`, such as `phr` or `phrh` (OpenID Connect EAP ACR Values 1.0). They are also
   * requested.
   */
  readonly acr?: readonly string[];
  /** Values of the claim `amr`, such as `hwk`, `user` or `fpt` (RFC 8176). */
  readonly amr?: readonly string[];
}

/** @throws TypeError naming the property that is wrong. */
export function checkedPresence(presence: Presence): Presence {
  assertMembers(presence, ["acr", "amr"], "login.presence");
  const { acr = [], amr = [] } = presence;
  for (const [name, values] of Object.entries({ acr, amr })) {
    // The request lists values of `acr` in one string, separated by spaces.
    const texts =
      Array.isArray(values) &&
      values.every((one) => typeof one === "string" && /^[\x21-\x7e]+$/.test(one));
    if (!texts) {
      const what = "must be an array of texts of printable ASCII characters without spaces";
      throw new TypeError(`login.presence.${name}: ${what}`);
    }
  }
  if (acr.length + amr.length === 0) {
    throw new TypeError('login.presence: must name at least one value, in "acr" or "amr"');
  }
  return { acr, amr };
}

/** Returns whether the claims of an ID token have one of these values. */
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
