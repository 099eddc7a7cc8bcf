// Rules of approvals: who must approve, who may decide, and whether an open approval can still be approved.

import { assertMembers } from "../../checks/members.js";
import type { GrantApproval } from "../../issuer/grant.js";
import { principalOf } from "./approval-results.js";
import { digestOfJson } from "./digests.js";
import type { Approval, ApprovalRule, ApprovalSubject } from "./records.js";

/** Maximum number of approvers. Each approver may add a hop, and a token has at most 32 links. */
const MAX_APPROVERS = 16;

/** Longest lifetime of an approval in seconds. */
const MAX_LIFETIME = 30 * 24 * 60 * 60;

/**
 * Checks the approval settings of a grant.
 *
 * @throws TypeError naming the property that is wrong, such as `grants[1].approval.lifetime`.
 */
export function checkGrantApproval(approval: GrantApproval, where: string): void {
  assertMembers(approval, ["approvers", "needed", "lifetime"], where);
  const { lifetime = 1, ...rule } = approval;
  checkApprovalRule(rule, where);
  checkLifetime(lifetime, `${where}.lifetime`);
}

/**
 * Checks a rule.
 *
 * @throws TypeError naming the property that is wrong, such as `grants[1].approval.needed`.
 */
export function checkApprovalRule(rule: ApprovalRule, where: string): void {
  assertMembers(rule, ["approvers", "needed"], where);
  const { approvers, needed = 1 } = rule;
  if (approvers !== undefined) {
    const texts =
      Array.isArray(approvers) && approvers.every((one) => typeof one === "string" && one !== "");
    const each = texts && new Set(approvers).size === approvers.length;
    if (!each || approvers.length === 0 || approvers.length > MAX_APPROVERS) {
      throw new TypeError(
        `${where}.approvers: must be an array of 1 to ${MAX_APPROVERS} principals, each once`,
      );
    }
  }
  const most = approvers?.length ?? 1;
  if (!Number.isSafeInteger(needed) || needed < 1 || needed > most) {
    throw new TypeError(
      `${where}.needed: must be a whole number from 1 to ${most}, the number of approvers`,
    );
  }
}

/**
 * Checks a lifetime in seconds.
 *
 * @throws TypeError unless an approval may have this lifetime.
 */
export function checkLifetime(lifetime: number, where: string): void {
  if (Number.isSafeInteger(lifetime) && lifetime >= 1 && lifetime <= MAX_LIFETIME) return;
  throw new TypeError(`${where}: must be 1 to ${MAX_LIFETIME} whole seconds`);
}

/** An approval rule, and the approval's lifetime in seconds. */
export interface RuleInTime {
  readonly rule: ApprovalRule;
  readonly lifetime: number;
}

/** A requested grant's name, and the approval settings in its definition, if any. */
interface NamedApproval {
  readonly name: string;
  readonly approval: GrantApproval | undefined;
}

/**
 * Returns the approval rule of all requested grants, with the shortest of their lifetimes. If two grants have
 * different rules, returns the names of these two grants.
 *
 * @param standard - The rule for grants without their own rule.
 */
export function oneRule(
  asked: readonly NamedApproval[],
  standard: RuleInTime,
): RuleInTime | readonly [string, string] {
  const rules = asked.map(({ name, approval = standard.rule }) => {
    const { lifetime = standard.lifetime, ...rule }: GrantApproval = approval;
    return { name, rule, lifetime, digest: digestOfJson(rule) };
  });
  const [first] = rules;
  if (first === undefined) return standard;
  const other = rules.find(({ digest }) => digest !== first.digest);
  if (other !== undefined) return [first.name, other.name];
  return { rule: first.rule, lifetime: Math.min(...rules.map(({ lifetime }) => lifetime)) };
}

export function areApart(rule: ReturnType<typeof oneRule>): rule is readonly [string, string] {
  return Array.isArray(rule);
}

/** Returns the approvers of a rule; `undefined` if only a user code determines the approver. */
export function approversOf({
  rule,
  subject,
}: Pick<Approval, "rule" | "subject">): readonly string[] | undefined {
  const user = subject.principal ?? subject.hintedUser;
  return rule.approvers ?? (user === undefined ? undefined : [user]);
}

/**
 * Returns the principals who may decide: the approvers, and the user that the request names. Returns
 * `undefined` if only a user code determines who may decide.
 */
export function decidersOf(
  approval: Pick<Approval, "rule" | "subject">,
): readonly string[] | undefined {
  const approvers = approversOf(approval);
  const { principal, hintedUser } = approval.subject;
  if (principal !== undefined || hintedUser === undefined) return approvers;
  return [...new Set([...(approvers ?? []), hintedUser])];
}

/**
 * Returns whether an authenticated principal may see and decide an approval.
 *
 * @param inForce - The current rules, at least one of which must name the principal too. An empty array means
 *   that the current rules are unknown; then they are not checked.
 */
export function mayDecide(
  approval: Pick<Approval, "rule" | "subject">,
  principal: string,
  inForce: readonly ApprovalRule[] = [],
): boolean {
  const names = (rule: ApprovalRule): boolean =>
    decidersOf({ rule, subject: approval.subject })?.includes(principal) ?? false;
  return names(approval.rule) && (inForce.length === 0 || inForce.some(names));
}

/**
 * Returns whether a principal may become the agent's user: the agent has no user, and the request names no
 * other user.
 */
export function mayTakeOn(approval: Approval, principal: string): boolean {
  const { hintedUser = principal } = approval.subject;
  return principalOf(approval) === undefined && hintedUser === principal;
}

/**
 * Returns whether an approval has a principal, and enough approvers have approved to meet every rule.
 *
 * @param inForce - Rules that must be met in addition to the approval's own rule.
 */
export function isApproved(
  approval: Pick<Approval, "rule" | "subject" | "decisions">,
  inForce: readonly ApprovalRule[] = [],
): boolean {
  if (principalOf(approval) === undefined) return false;
  return [approval.rule, ...inForce].every((rule) => approvalsMissing(approval, rule) === 0);
}

/** Returns how many approvals a rule still needs. */
function approvalsMissing(
  { subject, decisions }: Pick<Approval, "subject" | "decisions">,
  rule: ApprovalRule,
): number {
  const approvers = approversOf({ rule, subject });
  // Without approvers, only the user who enters the code approves. That user has done so: the callers have
  // checked that the approval has a principal.
  if (approvers === undefined) return 0;
  const approved = decisions.filter(({ approver }) => approvers.includes(approver));
  return Math.max(0, (rule.needed ?? 1) - approved.length);
}

/** The current state on which an open approval depends, in addition to its record. */
export interface InForce {
  /** The current rules for the requested grants; empty if they are unknown. */
  rulesFor(subject: ApprovalSubject): readonly ApprovalRule[];
  /**
   * True if all capabilities that a principal had at `moment` are revoked.
   *
   * @param moment - Milliseconds since 1970.
   */
  isRevoked(principal: string, moment: number): boolean;
  /** Updates the known revocations. Called before each decision, so that no earlier revocation is missed. */
  catchUp(): Promise<void>;
}

/** Used without `Parties`: there is no rule except the approval's own, and nothing is revoked. */
export const NOTHING_IN_FORCE: InForce = {
  rulesFor: () => [],
  isRevoked: () => false,
  catchUp: async () => {},
};

/**
 * Returns an approval in its current state, and the same object if the state is unchanged. An open approval may
 * have expired, its principal's capabilities may have been revoked, or the current rules can no longer be met.
 *
 * @param now - Milliseconds since 1970.
 */
export function currentApproval(approval: Approval, inForce: InForce, now: number): Approval {
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

/**
 * True if the principal's capabilities were revoked after the approval was opened or, if the principal became the
 * agent's user by a decision, after that decision.
 */
export function isVoid(approval: Approval, inForce: InForce): boolean {
  const principal = principalOf(approval);
  if (principal === undefined) return false;
  const taking = approval.decisions.find(({ takesOn }) => takesOn === true);
  return inForce.isRevoked(principal, taking?.at ?? approval.created);
}

/** Returns whether every rule can still be met by the decisions so far and those of people who have yet to decide. */
function canBeApproved(approval: Approval, inForce: readonly ApprovalRule[]): boolean {
  // The agent has no user yet. The user that it will get may be an approver, so the rules cannot be judged now.
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
