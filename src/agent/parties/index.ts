/**
 * Hosts, their agents, each agent's grants, and people's approvals. The store is `openParties` of
 * `proviso/stores`.
 *
 * @module proviso/parties
 */

export type { Approver, ApproverAnswer, DecisionCode } from "./approval-decisions.js";
export { type OpenedApproval, RequestReusedError } from "./approval-requests.js";

export { type ApprovedGrant, principalOf, resultOf } from "./approval-results.js";
export type { DecisionOutcome } from "./approval-settlement.js";
export type { Approvals } from "./approvals.js";
export { exactConstraints } from "./constraints.js";
export { createParties } from "./create-parties.js";
export { digestOf } from "./digests.js";
export type { Actor } from "./events.js";
export type { ListedGrant } from "./grants.js";
export type { Parties, PartiesOptions } from "./parties.js";
export type {
  AgentGrant,
  AgentRecord,
  Approval,
  ApprovalDecision,
  ApprovalKind,
  ApprovalRule,
  ApprovalState,
  ApprovalSubject,
  AskedGrant,
  GrantHop,
  HostRecord,
  Origin,
} from "./records.js";
export type { Outcome, PartyRefusal, PartyRefusalCode } from "./refusals.js";
export type { AskedAnswer, Claim, GrantRequest, Registration } from "./requests.js";
export type { RevokedUser } from "./revocations.js";
export type { PartySettings } from "./settings.js";
export type { PartyStore } from "./store.js";

export { type CapabilityTerm, type CapabilityTerms, capabilityTerms } from "./terms.js";
