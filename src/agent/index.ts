/**
 * Issuing agents, independent of the protocol: grants, policy, requests, offers, skills, and the check of every
 * call.
 *
 * @module proviso/agent
 */
export type { Admission } from "./admission.js";
export type { IssuingAgentOptions } from "./agent-options.js";
export type { Caller } from "./caller.js";
export type {
  Clearance,
  Refusal,
  SkillInvocation,
} from "./clearance.js";
export { ClearanceLostError, type InvocationOutcome } from "./clearance.js";
export { createIssuingAgent } from "./create-issuing-agent.js";
export { type ArgumentsOf, createSkill, type TypedSkill } from "./create-skill.js";
export { type DelegationNode, delegationTree } from "./delegation-tree.js";
export { expandGrants, type KnownGrant } from "./grant.js";
export type { GrantedCapability, NamedHandle } from "./issuance.js";
export type { IssuingAgent } from "./issuing-agent.js";
export type { AuthorityKind, Observation } from "./ledger.js";
export type { Introspection, RevocationOutcome } from "./maintenance.js";
export type { Permission, Policy } from "./policy.js";
export {
  createPolicyTable,
  type PolicyDefinition,
  type PolicyRule,
  type PolicyTable,
} from "./policy-table.js";
export type {
  AdmittedCapability,
  AuthenticatedCapability,
  PresentedCapability,
} from "./presented.js";
export type { AgentDenial, AgentDenials, RequestDenial } from "./refusal.js";
export type { RequestOutcome } from "./requested-capabilities.js";
export { type Operation, type Skill, type SkillCall, SkillInputError } from "./skill.js";
