import type { Approval } from "../../../agent/approvals/approval.js";
import type { Desk } from "../desk.js";
import type { ShownGrant } from "../pages/grants.js";

/** What a host was given before on a user's behalf. */
export interface GivenBefore {
  /** What is still active. */
  readonly active: readonly ShownGrant[];
  /** The latest decisions about its requests, latest first, among the user's last 200. */
  readonly past: readonly Approval[];
}

const MOST_PAST = 5;
/** Of the user's last requests, in which those of the host are looked for. */
const AMONG = 200;

export async function givenBefore(
  { registry, approvals }: Desk,
  principal: string,
  host: string,
): Promise<GivenBefore> {
  const [active, past] = await Promise.all([
    registry.activeGrants(principal),
    approvals.history(principal, AMONG),
  ]);
  return {
    active: active.filter(({ grant }) => grant.host === host),
    past: past.filter(({ subject }) => subject.host?.id === host).slice(0, MOST_PAST),
  };
}
