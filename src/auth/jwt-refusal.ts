import type { errors } from "jose";
import { errorCode } from "../bytes/error-code.js";
import type { Settings } from "./jwt-options.js";

/** Characters of a claim that are shown. */
const SHOWN = 120;
/** Milliseconds that a date can be from 1970. */
const FARTHEST = 8.64e15;

/**
 * What is wrong with an access token that jose refuses, to be said after "the access token".
 *
 * @param jose - The errors of the package, which is loaded only where it is used.
 * @returns `undefined` if the error is about something else than the token.
 */
export function whatIsWrong(
  error: unknown,
  expected: Settings,
  jose: typeof errors,
): string | undefined {
  if (error instanceof jose.JWTExpired) {
    return `expired at ${momentOf(error.payload.exp)} ("exp")`;
  }
  if (error instanceof jose.JWTClaimValidationFailed) return wrongClaim(error, expected);
  switch (errorCode(error)) {
    case "ERR_JOSE_ALG_NOT_ALLOWED":
      return `is not signed by an accepted algorithm ("alg"): ${expected.algorithms.join(", ")}`;
    case "ERR_JWKS_NO_MATCHING_KEY":
      return `is signed with a key that ${expected.issuer} does not publish ("kid")`;
    case "ERR_JWKS_MULTIPLE_MATCHING_KEYS":
      return 'does not say which of several keys it is signed with ("kid")';
    case "ERR_JWS_SIGNATURE_VERIFICATION_FAILED":
      return "has a signature that does not hold";
    case "ERR_JWS_INVALID":
    case "ERR_JWT_INVALID":
    case "ERR_JOSE_NOT_SUPPORTED":
      return "is not a signed JWT";
    default:
      return undefined;
  }
}

function wrongClaim(
  { claim: name, reason, payload }: errors.JWTClaimValidationFailed,
  expected: Settings,
): string {
  const found = payload[name];
  if (reason === "missing") return `has no "${name}"`;
  if (reason === "invalid") return `has a "${name}" that is not a number`;
  switch (name) {
    case "typ":
      return `is of another type ("typ") than at+jwt: an ID token, maybe, and no access token`;
    case "iss":
      return `has the issuer ("iss") ${shown(found)}, not "${expected.issuer}"`;
    case "aud":
      return `is for the audience ("aud") ${shown(found)}, not "${expected.audience}"`;
    case "nbf":
      return `is not valid before ${momentOf(found)} ("nbf")`;
    default:
      return `has a wrong "${name}"`;
  }
}

/** A claim as people can read it, in one line and not too long. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "none";
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

/** `YYYY-MM-DDTHH:MM:SSZ` of seconds since 1970, where there is such a time. */
export function momentOf(seconds: unknown): string {
  if (typeof seconds !== "number" || Math.abs(seconds * 1000) > FARTHEST) return "no time";
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
