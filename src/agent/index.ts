/**
 * What an issuing agent decides, whatever the protocol: grants, policy, requests, offers, skills and
 * their gate; and the interfaces of the ledger, of resources and of callers that it decides over.
 *
 * @packageDocumentation
 */
export type { Admission } from "./admission.js";
export type { IssuingAgentOptions } from "./agent-options.js";
export type {
  AuthenticationDenial,
  Authenticator,
  Caller,
  CallerAuthentication,
  CallerRequest,
} from "./caller.js";
export type {
  Clearance,
  Mode,
  Refusal,
  SkillInvocation,
  UndeclaredAmbient,
} from "./clearance.js";
export { createIssuingAgent } from "./create-issuing-agent.js";
export { type DelegationNode, delegationTree } from "./delegation-tree.js";
export { expandGrants, type KnownGrant } from "./grant.js";
export type { GrantedCapability, NamedHandle } from "./issuance.js";
export { IssuingAgent } from "./issuing-agent.js";
export type {
  AuthorityKind,
  IssuedCapability,
  Ledger,
  LedgerEvent,
  LedgerEventKind,
  LedgerHop,
  LedgerQuery,
  Observation,
} from "./ledger.js";
export type { AttenuationOutcome, Introspection } from "./maintenance.js";
export {
  type InvocationOutcome,
  LeaveLostError,
  type RequestOutcome,
  type RevocationOutcome,
} from "./outcomes.js";
export type { Permission, Policy, ResourceSelector } from "./policy.js";
export { type PolicyDefinition, type PolicyRule, PolicyTable } from "./policy-table.js";
export type {
  AdmittedCapability,
  AuthenticatedCapability,
  AuthenticCapability,
  Presented,
  PresentedCapability,
} from "./presented.js";
export type {
  AgentDenial,
  AgentDenialCode,
  AgentDenials,
  RefusedGrant,
  RequestDenial,
  RequestDenialCode,
  RequestRefusal,
  TakenBy,
} from "./refusal.js";
export {
  checkFilter,
  type FilterReading,
  matches,
  type ResourceQueryReading,
  readFilter,
  readResourceQuery,
} from "./resources/filter.js";
export type {
  FieldCondition,
  QueryDenial,
  QueryResult,
  Resource,
  ResourceFilter,
  ResourceQuery,
  ResourceSource,
} from "./resources/resource.js";
export { type ResourceNumbers, ResourceNumbersInMemory } from "./resources/resource-numbers.js";
export { type Skill, type SkillCall, SkillInputError, type SkillReach } from "./skill.js";
