import type { GrantApproval } from "../../issuer/grant.js";
import type { ApprovalRule } from "./approval.js";
import { digestOfJson } from "./digest.js";

/** Who approves what, and for how many seconds it waits for them. */
export interface RuleInTime {
  readonly rule: ApprovalRule;
  readonly lifetime: number;
}

/** What is asked for, by its name, and what its grant says of its approval, if anything. */
export interface NamedApproval {
  readonly name: string;
  readonly approval: GrantApproval | undefined;
}

/**
 * The one rule by which all of one request is approved. Of several lifetimes, the shortest counts.
 *
 * @param standard - For what says nothing itself.
 * @returns The names of two grants that different people approve, where there are two.
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

/** Whether there are two rules. */
export function areApart(rule: ReturnType<typeof oneRule>): rule is readonly [string, string] {
  return Array.isArray(rule);
}
