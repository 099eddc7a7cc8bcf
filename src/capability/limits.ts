import { outlineBytes } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { caveatTooLarge, completeLimits, type MacaroonLimits } from "../macaroon/limits.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { overLimits } from "../macaroon/over-limits.js";

/** Limits on a capability's token. Each is checked before the work that it limits. */
export interface CapabilityLimits extends MacaroonLimits {
  /** Longest array in a hop, in elements. */
  readonly setMembers: number;
}

/**
 * The limits of the specification (docs/spec.md, section 4). A token with 200 handles of 25 characters each still fits
 * after it has been attenuated to 100 of these handles. As base64url, the largest token leaves 2.7 KB of the 16 KiB
 * that Node allows for all headers of a request. A checker may lower the limits but not raise them: other checkers
 * would refuse a token that exceeds the limits of the specification.
 */
export const CAPABILITY_LIMITS: CapabilityLimits = /* @__PURE__ */ Object.freeze({
  bytes: 10_240,
  caveats: 32,
  identifierBytes: 2048,
  caveatBytes: 8192,
  discharges: 8,
  nesting: 4,
  setMembers: 256,
});

/** Maximum JSON nesting depth of a hop: hop, operationConstraints, operation, argument, each, url, hosts. */
const MAX_HOP_DEPTH = 7;
const OPENING_BRACE = 0x7b;

/** @throws TypeError if a limit is not an integer or is higher than the specification's. */
export function capabilityLimits(given: Partial<CapabilityLimits> | undefined): CapabilityLimits {
  if (given === undefined) return CAPABILITY_LIMITS;
  const limits = completeLimits(CAPABILITY_LIMITS, given);
  for (const [name, most] of Object.entries(CAPABILITY_LIMITS)) {
    const value = limits[name as keyof CapabilityLimits];
    if (value <= most) continue;
    throw new TypeError(`limits.${name} can only be lowered: at most ${most}, not ${value}`);
  }
  return limits;
}

/** Returns the error for the first limit that the macaroons together exceed; `undefined` if they exceed none. */
export function overCapabilityLimits(
  macaroons: readonly Macaroon[],
  limits: CapabilityLimits,
): TokenError | undefined {
  return overLimits(macaroons, limits) ?? overHopLimits(macaroons, limits);
}

/** Returns the error for the first hop that exceeds a limit; `undefined` if no hop does. */
export function overHopLimits(
  macaroons: readonly Macaroon[],
  limits: CapabilityLimits,
): TokenError | undefined {
  for (const macaroon of macaroons) {
    for (const [at, { kind, identifier }] of partsOf(macaroon).caveats.entries()) {
      const over =
        kind === "first-party" ? overHopShape(identifier, `hop ${at + 1}`, limits) : undefined;
      if (over !== undefined) return over;
    }
  }
  return undefined;
}

function overHopShape(
  caveat: Uint8Array,
  what: string,
  limits: CapabilityLimits,
): TokenError | undefined {
  if (caveat[0] !== OPENING_BRACE) return undefined;
  const { depth, longestArray } = outlineBytes(caveat);
  const isWithin = depth <= MAX_HOP_DEPTH && longestArray <= limits.setMembers;
  if (isWithin || decodeUtf8(caveat) === undefined) return undefined;
  if (depth > MAX_HOP_DEPTH) {
    return new TokenError("too_deep", `${what} is nested more than ${MAX_HOP_DEPTH} deep`);
  }
  const message = `${what} has a set of more than ${limits.setMembers} elements`;
  return new TokenError("too_many_members", message);
}

/**
 * Checks one hop against the limits, before the hop is parsed or compared.
 *
 * @throws TokenError `caveat_too_large`, `too_deep` or `too_many_members`.
 */
export function assertHopFits(caveat: Uint8Array, limits: CapabilityLimits): void {
  if (caveat.length > limits.caveatBytes) throw caveatTooLarge(caveat.length, limits.caveatBytes);
  const over = overHopShape(caveat, "the hop", limits);
  if (over !== undefined) throw over;
}
