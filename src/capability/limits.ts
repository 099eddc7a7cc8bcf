import { completeLimits, type MacaroonLimits } from "../macaroon/limits.js";

/** Upper bounds on a capability's token, each checked before any hashing. */
export interface CapabilityLimits extends MacaroonLimits {
  /** Members of one array in a hop. */
  readonly setMembers: number;
}

/**
 * The bounds of the specification (docs/spec.md, section 4). A token of 200 handles with 25 characters
 * each, attenuated once to 100 of them, fits; as base64url it leaves 2.6 KB of the 16 KiB that Node
 * gives all headers of a request. A checker may lower them, never raise
 * them: holders rely on what others accept.
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

/** Deepest JSON nesting that a hop can have: hop, constraints, operators, list. */
export const MAX_HOP_DEPTH = 4;

/** @throws TypeError if a limit is not a whole number or is higher than the specification's. */
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
