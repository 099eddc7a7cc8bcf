import type { Authenticator } from "../../agent/caller.js";
import { AUTHENTICATOR, assertHas } from "../../checks/kinds.js";
import { assertMembers } from "../../checks/members.js";

/** The user who signed in, or the reason of the failure. */
export type LoginOutcome =
  | ({ readonly ok: true } & SignedIn)
  | { readonly ok: false; readonly message: string };

/** A user who signed in, as the identity provider's ID token says. */
export interface SignedIn {
  readonly principal: string;
  /** The claim `auth_time`: seconds since 1970 at which the user authenticated. Absent if the provider does not say. */
  readonly authTime?: number;
  /** True if `acr` or `amr` is among those that the configuration counts as presence. */
  readonly present?: boolean;
}

/**
 * The requirement to the identity provider: any session of the user, credentials entered again (`prompt=login`,
 * `max_age=0`), or credentials entered again with proof of presence (`acr_values` in addition).
 */
export type LoginDemand = "any" | "fresh" | "present";

/** The values that a pending sign-in must match; kept in the browser, sealed. */
export interface LoginState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The sign-in of the console's users: at an identity provider, or by a development token. */
export type ConsoleLogin = OpenIdLogin | DevelopmentLogin;

/** Sign-in at an identity provider. What {@link createOpenIdLogin} makes. */
export interface OpenIdLogin {
  readonly kind: "openid";
  /** The name by which users know the identity provider. */
  readonly issuer: string;
  /** True if {@link SignedIn.present} is judged: values of `acr` or `amr` are configured. */
  readonly checksPresence: boolean;
  /** Seconds by which the provider's clock may differ from this server's. */
  readonly clockSkew: number;
  /**
   * The address to which a user is sent to sign in.
   *
   * @param callback - Where the identity provider sends the user back to.
   * @throws Error if the identity provider cannot be reached.
   */
  begin(
    callback: string,
    demand: LoginDemand,
  ): Promise<{ readonly url: string; readonly state: LoginState }>;
  /**
   * The user.
   *
   * @param answer - Where the identity provider sent the user to, with all parameters.
   * @throws Error if the identity provider cannot be reached.
   */
  finish(answer: URL, state: LoginState): Promise<LoginOutcome>;
}

/** Sign-in by a token that stands for a user: for trying things out on one machine. */
export interface DevelopmentLogin {
  readonly kind: "development";
  check(token: string): Promise<LoginOutcome>;
}

/**
 * Signs users in by development tokens, on a loopback address.
 *
 * @param tokens - What {@link createFixedTokens} gives.
 * @throws TypeError if it is no authenticator.
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
 * Values that show that a user was there when signing in, or used a separate channel, such as a security key; a
 * password alone does not. One of them is enough.
 */
export interface Presence {
  /**
   * Values of the claim `acr`, such as `phr` or `phrh` (OpenID Connect EAP ACR Values 1.0), which are also
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
    // Values of acr are asked for in one text, separated by spaces.
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

/** Returns whether the claims of an ID token have one of the values. */
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
