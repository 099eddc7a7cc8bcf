/**
 * Hosts, their agents, what each may do and people's approvals. Its store is `openRegistry` of
 * `proviso/stores`.
 *
 * @module proviso/registry
 */
export type {
  Approval,
  ApprovalDecision,
  ApprovalKind,
  ApprovalRule,
  ApprovalState,
  ApprovalSubject,
  AskedGrant,
} from "../approvals/approval.js";
export type { Actor } from "../approvals/approval-events.js";
export { type ApprovedGrant, principalOf, resultOf } from "../approvals/approval-result.js";
export type { Approvals } from "../approvals/approvals.js";
export type { Approver, ApproverAnswer, DecisionCode } from "../approvals/deciding.js";
export { digestOf } from "../approvals/digest.js";
export { type OpenedApproval, RequestReusedError } from "../approvals/opening.js";
export type { DecisionOutcome } from "../approvals/settling.js";
export { exactConstraints } from "./constraints.js";
export { createRegistry } from "./create-registry.js";
export type { ListedGrant } from "./looking.js";
export type { Outcome, RegistryCode, RegistryRefusal } from "./outcomes.js";
export type { AgentGrant, AgentRecord, GrantHop, HostRecord, Origin } from "./records.js";
export type { Registry, RegistryOptions } from "./registry.js";
export type { RegistryStore } from "./registry-store.js";
export type { AskedAnswer, Claim, GrantRequest, Registration } from "./requests.js";
export type { RevokedUser } from "./revoking.js";
export type { RegistrySettings } from "./settings.js";
export { type CapabilityTerm, type CapabilityTerms, capabilityTerms } from "./terms.js";
