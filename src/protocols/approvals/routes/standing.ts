import type { Approval } from "../../../agent/approvals/approval.js";
import { principalOf } from "../../../agent/approvals/approval-result.js";
import { mayDecide, mayTakeOn } from "../../../agent/approvals/deciding.js";
import type { Session } from "../session/sessions.js";

/** The code of an approval as the user has entered it in this session. */
export function enteredCode({ id }: Approval, { codes }: Session): string | undefined {
  return codes.find(([approval]) => approval === id)?.[1];
}

/** Whether the user of a session may answer: it is for them, or no user's yet and they have its code. */
export function canAnswer(approval: Approval, session: Session): boolean {
  if (mayDecide(approval, session.principal)) return true;
  return mayTakeOn(approval, session.principal) && enteredCode(approval, session) !== undefined;
}

/** Whether the user of a session may see what is asked: also after deciding about it. */
export function canSee(approval: Approval, session: Session): boolean {
  const { principal } = session;
  const own = principalOf(approval) === principal;
  const decided = approval.decisions.some(({ approver }) => approver === principal);
  return own || decided || canAnswer(approval, session);
}
