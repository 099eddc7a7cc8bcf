import type { Approval } from "../../../agent/approvals/approval.js";
import type { Desk } from "../desk.js";
import type { ShownGrant } from "../pages/grants.js";

/** What a host was given before on a user's behalf. */
export interface GivenBefore {
  /** What is still active. */
  readonly active: readonly ShownGrant[];
  /** The latest decisions about its requests, latest first. */
  readonly past: readonly Approval[];
}

const MOST_PAST = 5;

export async function givenBefore(
  { registry, approvals }: Desk,
  principal: string,
  host: string,
): Promise<GivenBefore> {
  const [active, past] = await Promise.all([
    registry.activeGrants(principal),
    approvals.history(principal),
  ]);
  return {
    active: active.filter(({ grant }) => grant.host === host),
    past: past.filter(({ subject }) => subject.host?.id === host).slice(0, MOST_PAST),
  };
}
