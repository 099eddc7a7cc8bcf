/**
 * For holders of capabilities: narrows a token offline, shows its contents, compares two tokens, and gets a token's
 * revocation id. Runs unchanged in browsers, Node, Deno, Bun and Workers.
 *
 * @module proviso
 */
export type { Json } from "./bytes/json.js";
export { TokenError, type TokenErrorCode } from "./bytes/token-error.js";
export {
  type AttenuateOptions,
  type Attenuation,
  attenuate,
  createNonce,
  revocationId,
} from "./capability/attenuate.js";
export { chainId } from "./capability/chain-id.js";
export { type AuthorityChange, diff, type TokenDiff } from "./capability/diff.js";
export { bindDischarges } from "./capability/discharge.js";
export type { Identifier } from "./capability/identifier.js";
export {
  type InspectedLink,
  type InspectedMacaroon,
  type Inspection,
  type InspectionWarning,
  type InspectOptions,
  inspect,
  type RawBytes,
} from "./capability/inspect.js";
export { CAPABILITY_LIMITS, type CapabilityLimits } from "./capability/limits.js";
export type { Authority } from "./caveats/authority.js";
export type { ArgumentDomain, ArgumentType, Domain } from "./caveats/domain.js";
export type {
  ArgumentConstraint,
  ArgumentConstraints,
  ArgumentOperators,
  Constraint,
  ElementOperators,
  Hop,
  HopInit,
  ItemsLimit,
  Operators,
  UrlLimit,
} from "./caveats/hop.js";
export type { HopProblem, Overreach } from "./caveats/hop-rule.js";
export type { Scalar, ScalarType } from "./caveats/scalar.js";
export { encodeHop } from "./caveats/write-hop.js";
export type { MacaroonFormat } from "./macaroon/read.js";
