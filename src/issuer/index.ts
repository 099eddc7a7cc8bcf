/**
 * What an issuing agent runs: root keys, minting, checking and revocation; grants, policy, resources,
 * the ledger, and who its callers are.
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
export type { Admission, AdmittedCapability } from "./agent/admission.js";
export type {
  Clearance,
  Mode,
  Refusal,
  SkillInvocation,
  UndeclaredAmbient,
} from "./agent/gate.js";
export { expandGrants, type KnownGrant } from "./agent/grant.js";
export type { GrantedCapability, NamedHandle } from "./agent/issuance.js";
export {
  createIssuingAgent,
  type InvocationOutcome,
  IssuingAgent,
  type IssuingAgentOptions,
  type NarrowingOutcome,
  type RequestOutcome,
  type RevocationOutcome,
} from "./agent/issuing-agent.js";
export type { Identification, Introspection } from "./agent/maintenance.js";
export type { Permission, Policy, ResourceSelector } from "./agent/policy.js";
export { type PolicyDefinition, type PolicyRule, PolicyTable } from "./agent/policy-table.js";
export type { PresentedCapability } from "./agent/presented.js";
export type { Observation } from "./agent/recorder.js";
export type {
  AgentDenial,
  AgentDenialCode,
  AgentDenials,
  RefusedGrant,
  RequestProblem,
  RequestProblemCode,
  TakenBy,
} from "./agent/refusal.js";
export { type Skill, type SkillCall, SkillInputError, type SkillReach } from "./agent/skill.js";
export { type FollowOptions, followKeyringFile } from "./follow-keyring.js";
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
export { createKeyringFile, readKeyringFile, replaceKeyringFile } from "./keyring-file.js";
export type {
  AuthorityKind,
  IssuedCapability,
  Ledger,
  LedgerEvent,
  LedgerEventKind,
  LedgerHop,
  LedgerQuery,
} from "./ledger/event.js";
export { LedgerFile } from "./ledger/ledger-file.js";
export { LedgerReader } from "./ledger/ledger-reader.js";
export { openLedger, openLedgerReadOnly } from "./ledger/open-ledger.js";
export type { LedgerOptions, LedgerProblem } from "./ledger/options.js";
export type { LedgerGap } from "./ledger/tables.js";
export { type DelegationNode, delegationTree } from "./ledger/tree.js";
export { createRevocationStore, openRevocationStore } from "./open-store.js";
export type {
  AuthenticationProblem,
  Authenticator,
  Caller,
  CallerAuthentication,
} from "./principals/caller.js";
export { type ChallengeOptions, wwwAuthenticate } from "./principals/challenge.js";
export {
  createFixedTokens,
  type FixedToken,
  type FixedTokensOptions,
} from "./principals/fixed-tokens.js";
export { createJwtAuthenticator } from "./principals/jwt-authenticator.js";
export type {
  JwtAuthenticatorOptions,
  KeySourceOptions,
  PublicJwkSet,
} from "./principals/jwt-options.js";
export { KeysUnavailableError } from "./principals/keys-unavailable.js";
export {
  checkFilter,
  type FilterReading,
  matches,
  type ResourceQueryReading,
  readFilter,
  readResourceQuery,
} from "./resources/filter.js";
export { type FolderOptions, openFolder } from "./resources/folder.js";
export type {
  FieldCondition,
  QueryProblem,
  QueryResult,
  Resource,
  ResourceFilter,
  ResourceQuery,
  ResourceSource,
} from "./resources/resource.js";
export { ResourceError, type ResourceErrorCode } from "./resources/resource-error.js";
export { ResourceFolder } from "./resources/resource-folder.js";
export { openSqliteResources, type SqliteResourcesOptions } from "./resources/sqlite.js";
export type { SqliteCollection } from "./resources/sqlite-schema.js";
export { SqliteResources } from "./resources/sqlite-source.js";
export { RevocationStore, type RevocationStoreOptions } from "./revocation-store.js";
export {
  StorageError,
  type StorageErrorCode,
  type StorageErrorOptions,
  type StoreName,
} from "./storage-error.js";
