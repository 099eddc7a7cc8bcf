import type { GrantApproval } from "../../issuer/grant.js";
import type { InForce } from "./approval-rules.js";
import type { PartiesContext } from "./context.js";
import type { ApprovalRule, ApprovalSubject } from "./records.js";

/** A grant of an issuing agent, with its approval settings. Without `approval`, the grant is issued at once. */
export interface ApprovedByRule {
  readonly id: string;
  readonly approval?: GrantApproval | undefined;
}

/** Returns the current state on which decisions depend: configured rules and capabilities, and the revocation list. */
export function rulesInForce({
  rules,
  terms,
  settings,
  revocations,
}: Pick<PartiesContext, "terms" | "settings" | "revocations"> & {
  /** The approval settings by grant id. */
  readonly rules: ReadonlyMap<string, GrantApproval | undefined>;
}): InForce {
  const approvalsOf = ({ kind, asked }: ApprovalSubject): readonly GrantApproval[] => {
    if (kind === "capabilities") return asked.flatMap(({ grant }) => rules.get(grant) ?? []);
    // The command line opens the parties without capability terms, so it cannot know these rules.
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
