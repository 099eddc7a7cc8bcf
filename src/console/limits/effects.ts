import type { Approval, AskedGrant } from "../../agent/approvals/approval.js";
import { principalOf } from "../../agent/approvals/approval-result.js";
import type { Skill } from "../../agent/skill.js";

/** Finds out whether a grant that is asked for changes nothing. */
export type OnlyReads = (asked: AskedGrant) => boolean;

/**
 * Reads from the skills which grants change nothing. A token allows operations, so each skill with one of them must
 * say that it reads; an operation that no skill has may do anything.
 */
export function onlyReadsBy(skills: Iterable<Pick<Skill, "operation" | "effect">>): OnlyReads {
  const reading = new Map<string, boolean>();
  for (const { operation, effect } of skills) {
    reading.set(operation, effect === "read" && reading.get(operation) !== false);
  }
  return ({ operations }) => operations.every((one) => reading.get(one) === true);
}

/** Whether approving changes data or lets a host act for its user, for which presence counts. */
export function isWeighty(approval: Approval, onlyReads: OnlyReads): boolean {
  const { kind, asked } = approval.subject;
  const takesOn = principalOf(approval) === undefined || kind === "agent-claim";
  return takesOn || !asked.every(onlyReads);
}
