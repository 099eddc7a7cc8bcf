import { assertMembers } from "../checks/members.js";
import { nearest } from "../checks/nearest.js";
import { plainObject } from "../checks/plain.js";

/** Public keys in the form of a JWK Set (RFC 7517). */
export interface PublicJwkSet {
  readonly keys: readonly object[];
}

/** The time limit for fetching keys, and the intervals after which keys are fetched or read again. */
export interface KeySourceOptions {
  /** For a URL: seconds to wait for an answer; by default, 5. */
  readonly jwksTimeout?: number;
  /** For a URL: seconds before the keys are fetched again; by default, 600. */
  readonly jwksMaxAge?: number;
  /** For a URL: seconds after a fetch during which an unknown key id does not cause another fetch; by default, 30. */
  readonly jwksCooldown?: number;
  /** For a file: milliseconds between checks for a change; by default, 100. With 0, every request checks the file. */
  readonly refreshEvery?: number;
}

/** Requirements that access tokens must meet. */
export interface JwtAuthenticatorOptions extends KeySourceOptions {
  /** The authorization server: the `iss` of tokens, compared character by character. */
  readonly issuer: string;
  /** The audience (`aud`) that tokens must have, which names this service. A token may have other audiences, too. */
  readonly audience: string;
  /**
   * The authorization server's public keys: the URL of its JWK Set (`https:`; `http:` on loopback only), the path or
   * `file:` URL of a file with the set, or the set itself.
   */
  readonly jwks: string | URL | PublicJwkSet;
  /** Accepted signature algorithms: by default, all of RS, PS, ES, EdDSA and Ed25519. */
  readonly algorithms?: readonly string[];
  /**
   * The `typ` of tokens; by default, `at+jwt` (RFC 9068). `any` is for authorization servers that do not set `typ`.
   * With `any`, only the audience distinguishes an access token from other tokens.
   */
  readonly type?: "at+jwt" | "any";
  /** The claim that names the principal; by default, `sub`. */
  readonly principalClaim?: string;
  /** The claim that names the invoker; by default, `client_id`, or `azp` if the token has no `client_id`. */
  readonly invokerClaim?: string;
  /** A scope that the tokens' `scope` must contain. */
  readonly requiredScope?: string;
  /** Seconds by which the authorization server's clock may differ, up to 300; by default, 5. */
  readonly clockTolerance?: number;
  /** Returns milliseconds since 1970; by default, `Date.now`. */
  readonly clock?: () => number;
}

/** Asymmetric algorithms only: a published key must not be able to sign. */
export const ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const OPTIONS = [
  "issuer",
  "audience",
  "jwks",
  "algorithms",
  "type",
  "principalClaim",
  "invokerClaim",
  "requiredScope",
  "clockTolerance",
  "clock",
  "jwksTimeout",
  "jwksMaxAge",
  "jwksCooldown",
  "refreshEvery",
];

export interface Settings
  extends Required<Omit<JwtAuthenticatorOptions, Unsettled>>,
    Pick<JwtAuthenticatorOptions, "requiredScope"> {
  /** Claims that may name the invoker. The first of these claims that a token has is used. */
  readonly invokerClaims: readonly string[];
}

type Unsettled = "jwks" | "invokerClaim" | "requiredScope" | keyof KeySourceOptions;

/** @throws TypeError naming the option that is wrong. */
export function checkedOptions(options: JwtAuthenticatorOptions): Settings {
  plainObject(options, "options");
  assertMembers(options, OPTIONS, "");
  const {
    algorithms = ALGORITHMS,
    type = "at+jwt",
    clockTolerance = 5,
    clock = Date.now,
  } = options;
  const { invokerClaim, requiredScope } = options;
  if (!Array.isArray(algorithms) || algorithms.length === 0) {
    throw new TypeError("algorithms: must be an array of at least one algorithm");
  }
  const unknown = algorithms.find((name) => !ALGORITHMS.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, ALGORITHMS);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    const what = `"${String(unknown)}" is not one of ${ALGORITHMS.join(", ")}`;
    throw new TypeError(`algorithms: ${what}${hint}`);
  }
  if (type !== "at+jwt" && type !== "any") throw new TypeError('type: must be "at+jwt" or "any"');
  if (!(clockTolerance >= 0 && clockTolerance <= 300)) {
    throw new TypeError("clockTolerance: must be 0 to 300 seconds");
  }
  const scope = requiredScope === undefined ? undefined : text(requiredScope, "requiredScope");
  if (scope !== undefined && !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) {
    throw new TypeError("requiredScope: must be one scope, without spaces and quotes");
  }
  return {
    issuer: text(options.issuer, "issuer"),
    audience: text(options.audience, "audience"),
    principalClaim: text(options.principalClaim ?? "sub", "principalClaim"),
    invokerClaims:
      invokerClaim === undefined ? ["client_id", "azp"] : [text(invokerClaim, "invokerClaim")],
    requiredScope: scope,
    algorithms,
    type,
    clockTolerance,
    clock,
  };
}

function text(value: unknown, name: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${name}: must be a non-empty string`);
}
