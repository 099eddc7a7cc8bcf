import { TokenError } from "../bytes/token-error.js";
import { plainObject } from "../checks/plain.js";

/** Limits on a macaroon. Each limit is checked before the work that it limits, and is inclusive. */
export interface MacaroonLimits {
  /** Maximum size of all macaroons presented together, in bytes of the v2 binary form. */
  readonly bytes: number;
  /** Maximum number of caveats in one macaroon. */
  readonly caveats: number;
  /** Longest identifier of a macaroon, in bytes. */
  readonly identifierBytes: number;
  /** Longest identifier of a caveat, in bytes. */
  readonly caveatBytes: number;
  /** Maximum number of discharges presented with a macaroon. */
  readonly discharges: number;
  /** Maximum depth of nested discharges. With 1, a discharge must not need a discharge itself. */
  readonly nesting: number;
}

/** The default limits for generic macaroons. Capabilities have lower limits, `CAPABILITY_LIMITS`. */
export const MACAROON_LIMITS: MacaroonLimits = /* @__PURE__ */ Object.freeze({
  bytes: 65536,
  caveats: 256,
  identifierBytes: 16384,
  caveatBytes: 16384,
  discharges: 64,
  nesting: 16,
});

/** Adds the defaults to partial limits. Throws if a limit is unknown, or is not an integer of at least 0. */
export function completeLimits<T extends object>(defaults: T, given: Partial<T> | undefined): T {
  const own = given === undefined ? {} : plainObject(given, "limits");
  const unknown = Object.keys(own).find((name) => !Object.hasOwn(defaults, name));
  if (unknown !== undefined) {
    throw new TypeError(
      `unknown limit "${unknown}"; there are ${Object.keys(defaults).join(", ")}`,
    );
  }
  const limits = { ...defaults, ...own };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || Number(value) < 0) {
      throw new TypeError(`limits.${name} must be a whole number of at least 0, not ${value}`);
    }
  }
  return limits;
}

export function tooLarge(size: number, limit: number): TokenError {
  return new TokenError("too_large", `the token has ${size} bytes; at most ${limit} are allowed`);
}

export function tooManyCaveats(limit: number): TokenError {
  return new TokenError("too_many_caveats", `more than ${limit} caveats in one macaroon`);
}

export function caveatTooLarge(size: number, limit: number): TokenError {
  const message = `a caveat has ${size} bytes; at most ${limit} are allowed`;
  return new TokenError("caveat_too_large", message);
}

/** @throws TokenError `caveat_too_large` if a macaroon's identifier exceeds its limit. */
export function withinIdentifier(identifier: Uint8Array, limits: MacaroonLimits): Uint8Array {
  if (identifier.length <= limits.identifierBytes) return identifier;
  throw identifierTooLarge(identifier.length, limits.identifierBytes);
}

export function identifierTooLarge(size: number, limit: number): TokenError {
  const message = `the identifier has ${size} bytes; at most ${limit} are allowed`;
  return new TokenError("caveat_too_large", message);
}

export function tooManyDischarges(limit: number): TokenError {
  return new TokenError("too_many_discharges", `more than ${limit} discharges with one macaroon`);
}
