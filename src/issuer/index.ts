/**
 * What an issuing agent runs: root keys, minting, checking and revocation.
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
export {
  type RevocationEntry,
  type RevocationKind,
  RevocationList,
  type RevocationQuery,
  type RevocationSnapshot,
  type RevocationSource,
} from "../revocation/list.js";
export { type FollowOptions, followKeyringFile } from "./follow-keyring.js";
export {
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
export { createKeyringFile, readKeyringFile, replaceKeyringFile } from "./keyring-file.js";
export { createRevocationStore, openRevocationStore } from "./open-store.js";
export { RevocationStore, type RevocationStoreOptions } from "./revocation-store.js";
export { StorageError, type StorageErrorCode, type StorageErrorOptions } from "./storage-error.js";
