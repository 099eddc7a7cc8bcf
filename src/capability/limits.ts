import { completeLimits, type MacaroonLimits } from "../macaroon/limits.js";

/** Upper bounds on a capability's token, each checked before any hashing. */
export interface CapabilityLimits extends MacaroonLimits {
  /** Members of one array in a hop. */
  readonly setMembers: number;
}

/**
 * The bounds of the specification (docs/spec.md, section 4). A checker may lower them, never raise
 * them: holders rely on what others accept.
 *
 * @example
 * ```ts
 * import { CAPABILITY_LIMITS } from "proviso";
 *
 * CAPABILITY_LIMITS.bytes; // => 8192
 * ```
 */
export const CAPABILITY_LIMITS: CapabilityLimits = /* @__PURE__ */ Object.freeze({
  bytes: 8192,
  caveats: 32,
  caveatBytes: 2048,
  discharges: 8,
  nesting: 4,
  setMembers: 256,
});

/** Deepest JSON nesting that a hop can have: hop, constraints, operators, list. */
export const HOP_DEPTH = 4;

/** @throws TypeError if a limit is not a whole number or is higher than the specification's. */
export function capabilityLimits(given: Partial<CapabilityLimits> | undefined): CapabilityLimits {
  if (given === undefined) return CAPABILITY_LIMITS;
  const limits = completeLimits(CAPABILITY_LIMITS, given);
  for (const name of [
    "bytes",
    "caveats",
    "caveatBytes",
    "discharges",
    "nesting",
    "setMembers",
  ] as const) {
    if (limits[name] > CAPABILITY_LIMITS[name]) {
      const most = CAPABILITY_LIMITS[name];
      throw new TypeError(
        `limits.${name} can only be lowered: at most ${most}, not ${limits[name]}`,
      );
    }
  }
  return limits;
}
