import type { ApprovalRule } from "./approval.js";
import { digestOfJson } from "./digest.js";

/** A rule, and the name of what it is about. */
export interface NamedRule {
  readonly rule: ApprovalRule;
  readonly name: string;
}

/**
 * The one rule by which all of one request is approved.
 *
 * @returns `undefined` where none is needed; the names of two grants that different people approve.
 */
export function oneRule(
  rules: readonly NamedRule[],
): ApprovalRule | readonly [string, string] | undefined {
  const distinct = new Map<string, NamedRule>();
  for (const one of rules) {
    const digest = digestOfJson(one.rule);
    if (!distinct.has(digest)) distinct.set(digest, one);
  }
  const [only, other] = [...distinct.values()];
  return only !== undefined && other !== undefined ? [only.name, other.name] : only?.rule;
}

/** Whether there are two rules. */
export function areApart(rule: ReturnType<typeof oneRule>): rule is readonly [string, string] {
  return Array.isArray(rule);
}
