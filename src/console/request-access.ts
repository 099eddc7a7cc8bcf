import { principalOf } from "../agent/parties/approval-results.js";
import { mayTakeOn } from "../agent/parties/approval-rules.js";
import type { Approval } from "../agent/parties/records.js";
import type { Desk } from "./desk.js";
import type { ShownGrant } from "./pages/grant-list.js";
import type { Session } from "./sessions.js";

/** The code of an approval as the user has entered it in this session. */
export function enteredCode({ id }: Approval, { codes }: Session): string | undefined {
  return codes.find(([approval]) => approval === id)?.[1];
}

/** Returns whether the user of a session may answer: it is for them, or no user's yet and they have its code. */
export function canAnswer({ approvals }: Desk, approval: Approval, session: Session): boolean {
  if (approvals.mayDecide(approval, session.principal)) return true;
  return mayTakeOn(approval, session.principal) && enteredCode(approval, session) !== undefined;
}

/** Returns whether the user of a session may see a request, also after deciding about it. */
export function canSee(desk: Desk, approval: Approval, session: Session): boolean {
  const { principal } = session;
  const own = principalOf(approval) === principal;
  const decided = approval.decisions.some(({ approver }) => approver === principal);
  return own || decided || canAnswer(desk, approval, session);
}

/** Earlier grants to a host on a user's behalf. */
export interface GivenBefore {
  /** The still active ones. */
  readonly active: readonly ShownGrant[];
  /** The latest decisions about its requests, latest first, among the last 200 that concerned the user. */
  readonly past: readonly Approval[];
}

const MOST_PAST = 5;
/** Number of the user's last decisions in which those about the host are searched. */
const AMONG = 200;

export async function givenBefore(
  { parties, approvals }: Desk,
  principal: string,
  host: string,
): Promise<GivenBefore> {
  const [active, past] = await Promise.all([
    parties.activeGrants(principal),
    approvals.decided(principal, AMONG),
  ]);
  return {
    active: active.filter(({ grant }) => grant.host === host),
    past: past.filter(({ subject }) => subject.host?.id === host).slice(0, MOST_PAST),
  };
}
