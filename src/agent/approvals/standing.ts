import type { Approval, ApprovalRule, ApprovalSubject } from "./approval.js";
import { approvalsMissing, decidersOf, isApproved, principalOf } from "./approval-result.js";
import { mayDecide } from "./deciding.js";

/** The state that an open approval depends on besides its record. */
export interface InForce {
  /** The rules in force for the requested grants; empty if they are unknown. */
  rulesFor(subject: ApprovalSubject): readonly ApprovalRule[];
  /**
   * True if what a principal has from before a moment is revoked.
   *
   * @param moment - Milliseconds since 1970.
   */
  isRevoked(principal: string, moment: number): boolean;
  /**
   * Waits until the known revocations are recent; called before a decision, which takes effect before any later
   * revocation.
   */
  catchUp(): Promise<void>;
}

/** For approvals without a registry: the rule at opening counts alone, and nothing is revoked. */
export const NOTHING_IN_FORCE: InForce = {
  rulesFor: () => [],
  isRevoked: () => false,
  catchUp: async () => {},
};

/**
 * An approval as it stands now: the very same, or with the state that it has by now, because its time is over, its
 * principal's capabilities were revoked, or the rules in force can no longer be met.
 *
 * @param now - Milliseconds since 1970.
 */
export function standing(approval: Approval, inForce: InForce, now: number): Approval {
  const { state, expires, subject } = approval;
  if (state !== "pending" && state !== "approved") return approval;
  if (expires <= now) return { ...approval, state: "expired" };
  if (isVoid(approval, inForce)) {
    return { ...approval, state: "cancelled", cause: "principal_revoked" };
  }
  const rules = inForce.rulesFor(subject);
  const holds = state === "approved" ? isApproved(approval, rules) : canBeApproved(approval, rules);
  return holds ? approval : { ...approval, state: "denied", cause: "approvers_changed" };
}

/** True if its principal's capabilities were revoked after it was opened, or that user took the agent on. */
export function isVoid(approval: Approval, inForce: InForce): boolean {
  const principal = principalOf(approval);
  if (principal === undefined) return false;
  const taking = approval.decisions.find(({ takesOn }) => takesOn === true);
  return inForce.isRevoked(principal, taking?.at ?? approval.created);
}

/** False once those who may still decide are too few to meet a rule. */
function canBeApproved(approval: Approval, inForce: readonly ApprovalRule[]): boolean {
  // The user who takes the agent on may be one of them.
  if (principalOf(approval) === undefined) return true;
  const { subject, decisions, rule: own } = approval;
  const left = (decidersOf(approval) ?? []).filter(
    (one) =>
      mayDecide(approval, one, inForce) && !decisions.some(({ approver }) => approver === one),
  );
  return [own, ...inForce].every((rule) => {
    const approvers = decidersOf({ rule, subject }) ?? [];
    const possible = left.filter((one) => approvers.includes(one));
    return approvalsMissing(approval, rule) <= possible.length;
  });
}
