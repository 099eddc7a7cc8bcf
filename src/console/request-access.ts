import { principalOf } from "../agent/parties/approval-results.js";
import { mayTakeOn } from "../agent/parties/approval-rules.js";
import type { Approval } from "../agent/parties/records.js";
import type { Desk } from "./desk.js";
import type { ShownGrant } from "./pages/grant-list.js";
import type { Session } from "./sessions.js";

/** Returns the user code of an approval, if the user has entered it in this session. */
export function enteredCode({ id }: Approval, { codes }: Session): string | undefined {
  return codes.find(([approval]) => approval === id)?.[1];
}

/**
 * Returns whether the user of a session may decide. The user must be an approver, or have entered the user code
 * of a request that no user owns yet.
 */
export function canAnswer({ approvals }: Desk, approval: Approval, session: Session): boolean {
  if (approvals.mayDecide(approval, session.principal)) return true;
  return mayTakeOn(approval, session.principal) && enteredCode(approval, session) !== undefined;
}

/** Returns whether the user of a session may see a request. A user who has decided the request may still see it. */
export function canSee(desk: Desk, approval: Approval, session: Session): boolean {
  const { principal } = session;
  const own = principalOf(approval) === principal;
  const decided = approval.decisions.some(({ approver }) => approver === principal);
  return own || decided || canAnswer(desk, approval, session);
}

/** Grants and decisions that a user has given to a host before. */
export interface GivenBefore {
  /** The grants that are active now. */
  readonly active: readonly ShownGrant[];
  /**
   * The user's latest decisions about requests of the host, at most 5, latest first. Only the user's last 200 decisions
   * are searched.
   */
  readonly past: readonly Approval[];
}

const MOST_PAST = 5;
/** Number of the user's last decisions that are searched. */
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
