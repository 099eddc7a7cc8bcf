import type { GrantApproval } from "../../issuer/grant.js";
import type { InForce } from "./approval-rules.js";
import type { PartiesContext } from "./context.js";
import type { ApprovalRule, ApprovalSubject } from "./records.js";

/** A grant of an issuing agent, with its approvers; without `approval`, it is issued at once. */
export interface ApprovedByRule {
  readonly id: string;
  readonly approval?: GrantApproval | undefined;
}

/** Returns the current state that decisions depend on: configured rules and capabilities, and the revocation list. */
export function rulesInForce({
  rules,
  terms,
  settings,
  revocations,
}: Pick<PartiesContext, "terms" | "settings" | "revocations"> & {
  /** By the id of the grant. */
  readonly rules: ReadonlyMap<string, GrantApproval | undefined>;
}): InForce {
  const approvalsOf = ({ kind, asked }: ApprovalSubject): readonly GrantApproval[] => {
    if (kind === "capabilities") return asked.flatMap(({ grant }) => rules.get(grant) ?? []);
    // Without terms, as in the command line, the configuration is unknown.
    if (terms === undefined) return [];
    if (asked.length === 0) return [settings.approval];
    return asked.map(({ name = "" }) => terms.get(name)?.approval ?? settings.approval);
  };
  return {
    rulesFor: (subject) =>
      approvalsOf(subject).map(({ lifetime: _, ...rule }): ApprovalRule => rule),
    isRevoked: (principal, issued) =>
      revocations.find({ links: [], keys: [], capability: "", principal, issued }).length > 0,
    catchUp: async () => revocations.catchUp?.(),
  };
}
