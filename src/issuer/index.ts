/**
 * Mints and checks capabilities: root keys, minting, authorization, and the revocation list that checks
 * consult. Does no I/O.
 *
 * @module proviso/issuer
 */
export type { AuthenticToken } from "../capability/authentic-token.js";
export type { Authentication } from "../capability/authenticate.js";
export type {
  Decision,
  RefusedCapability,
  VerifiedCapability,
  VerifiedHop,
} from "../capability/authorize.js";
export type { Denial, DenialCode } from "../capability/denial.js";
export type { Extension } from "../capability/extend.js";
export type { MintedCapability, MintRequest } from "../capability/mint.js";
export type { ArgumentRemedy } from "../caveats/argument-remedies.js";
export type { Invocation } from "../caveats/invocation.js";
export type { RevocationEntry, RevocationKind } from "../revocation/entry.js";
export {
  createRevocationList,
  type RevocationList,
  type RevocationSnapshot,
} from "../revocation/list.js";
export type {
  RevocationAddition,
  RevocationQuery,
  RevocationQuota,
  RevocationRecords,
  RevocationSink,
  RevocationSource,
} from "../revocation/source.js";
export type { CapabilityDraft, IssueOptions } from "./draft.js";
export type { Grant } from "./grant.js";
export type { HandleScope } from "./handle.js";
export { createIssuer, type Issuer } from "./issuer.js";
export type { IssuerOptions } from "./issuer-options.js";
export {
  createKeyring,
  importKeyring,
  type KeyInfo,
  type Keyring,
  type KeyringOptions,
} from "./keyring.js";
export type { RootJwk, RootJwkSet } from "./root-jwk.js";
export type { SealedTextExpiry } from "./sealed-text.js";
export type { TokenRevocation } from "./token-revocation.js";
