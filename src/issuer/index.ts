/**
 * What mints and checks: root keys, minting, authorization, the revocation list it looks into. No I/O.
 *
 * @packageDocumentation
 */
export type {
  Decision,
  RefusedCapability,
  VerifiedCapability,
  VerifiedHop,
} from "../capability/authorize.js";
export type { Denial, DenialCode } from "../capability/denial.js";
export type { MintedCapability, MintRequest } from "../capability/mint.js";
export type { Invocation } from "../caveats/invocation.js";
export type { RevocationEntry, RevocationKind } from "../revocation/entry.js";
export {
  type RevocationAddition,
  RevocationList,
  type RevocationQuota,
  type RevocationSink,
  type RevocationSnapshot,
  type RevocationSource,
} from "../revocation/list.js";
export type { RevocationQuery } from "../revocation/table.js";
export type { Grant } from "./grant.js";
export { isHandle } from "./handle.js";
export {
  type CapabilityDraft,
  createIssuer,
  Issuer,
  type IssuerOptions,
  latestExpiry,
  type TokenRevocation,
} from "./issuer.js";
export {
  createKeyring,
  importKeyring,
  type KeyInfo,
  Keyring,
  type KeyringOptions,
  type RootJwk,
  type RootJwkSet,
} from "./keyring.js";
