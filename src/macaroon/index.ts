/**
 * Generic macaroons: the chain, third-party caveats and the four formats. This entry treats caveats as opaque bytes;
 * for capabilities, see the main entry and `proviso/issuer`.
 *
 * @module proviso/macaroon
 */
export { TokenError, type TokenErrorCode } from "../bytes/token-error.js";
export {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  type MacaroonInit,
  type ThirdPartyInit,
} from "./chain.js";
export { MACAROON_LIMITS, type MacaroonLimits } from "./limits.js";
export type {
  Caveat,
  FirstPartyCaveat,
  Macaroon,
  MacaroonParts,
  ThirdPartyCaveat,
} from "./macaroon.js";
export {
  type MacaroonFormat,
  type MacaroonText,
  macaroonsFromBytes,
  parseMacaroon,
  readMacaroons,
} from "./read.js";
export { createRootKey, type RootKey } from "./root-key.js";
export type { SignatureFailureCode } from "./signatures.js";
export {
  type VerifyFailure,
  type VerifyOptions,
  type VerifyResult,
  verifyMacaroon,
} from "./verify.js";
export { macaroonToBytes, macaroonToText, writeMacaroons } from "./write.js";
