// The result of an approval, grant by grant.

import { isObject } from "../../bytes/json.js";
import type { Hop } from "../../caveats/hop.js";
import { emptyRules, meetOf } from "../../caveats/meet.js";
import { formatTime } from "../../caveats/time.js";
import { assertArray, notA } from "../../checks/kinds.js";
import { plainObject } from "../../checks/plain.js";
import type { Approval, ApprovalCause, AskedGrant } from "./records.js";

/** The outcome of an approval for one of the requested grants. */
export interface ApprovedGrant {
  readonly asked: AskedGrant;
  /** The grant's index in the request. */
  readonly place: number;
  readonly granted: boolean;
  /** The reason for a denial, which is reported to the requester. */
  readonly reason?: string;
  /** One hop per approver who added limits, in the order of their decisions. */
  readonly hops: readonly { readonly who: string; readonly hop: Hop }[];
}

/** Maximum size of all hops of one grant together, in bytes, without the issuer's hop. A token has at most 10 KiB. */
export const MAX_HOPS_BYTES = 4096;

/**
 * Returns the result for each requested grant. A grant is granted if no approver has denied it, and the limits
 * of the requester and the approvers together still allow something.
 *
 * @param now - Milliseconds since 1970.
 * @throws TypeError if `approval` is not an approval.
 */
export function resultOf(
  approval: Pick<Approval, "subject" | "decisions">,
  now: number,
): readonly ApprovedGrant[] {
  const { subject, decisions } = checkedParts(approval);
  if (!Number.isFinite(now)) throw notA("now", "milliseconds since 1970", now);
  return subject.asked.map((asked, place) => {
    const denied = decisions.find(
      ({ answer, granted }) => answer === "deny" || granted?.includes(place) === false,
    );
    const hops = decisions.flatMap(({ approver, hops: own = {} }) => {
      const hop = own[place];
      return hop === undefined ? [] : [{ who: approver, hop }];
    });
    if (denied !== undefined) {
      const reason = denied.reason ?? "an approver denied it";
      return { asked, place, granted: false, reason, hops };
    }
    if (allowsSomething(asked, hops, now)) return { asked, place, granted: true, hops };
    const reason = "the approvers' limits together leave nothing of it";
    return { asked, place, granted: false, reason, hops };
  });
}

/** @throws TypeError if `approval` is not an approval, but for example a Promise of one. */
function checkedParts<Of extends Pick<Approval, "subject" | "decisions">>(approval: Of): Of {
  const own = plainObject(approval, "approval");
  if (!isObject(own.subject)) throw notA("approval.subject", "an object", own.subject);
  assertArray(own.decisions, "approval.decisions", "decisions");
  return own;
}

function allowsSomething(
  { operations, hops }: AskedGrant,
  further: readonly { readonly hop: Hop }[],
  now: number,
): boolean {
  const own = further.map(({ hop }) => hop);
  const asked = hops.map(({ hop }) => sealedAfter(hop, own.length));
  const authority = meetOf([[{ operations }, ...asked, ...own]]);
  if (emptyRules(authority).length > 0) return false;
  return authority.expires === undefined || authority.expires > formatTime(now);
}

/**
 * Returns the requester's hop with `maxFurtherHops` raised by `following`. The requester limits only the hops of
 * holders.
 *
 * @param following - The number of hops that other parties, such as policy and approvers, add after the requester's.
 */
export function sealedAfter(hop: Hop, following: number): Hop {
  const { maxFurtherHops: most } = hop;
  return most === undefined ? hop : { ...hop, maxFurtherHops: most + following };
}

/**
 * Returns the user on whose behalf an agent sends a request: the subject's principal, or the approver who
 * became the agent's user. Returns `undefined` while the agent has no user.
 */
export function principalOf(approval: Pick<Approval, "subject" | "decisions">): string | undefined {
  const { subject, decisions } = checkedParts(approval);
  const taker = decisions.find(({ takesOn }) => takesOn === true);
  return subject.principal ?? taker?.approver;
}

/** True if the requesting host was not linked to a user. The texts in such a request are untrusted. */
export function isFromStranger({ subject }: Pick<Approval, "subject">): boolean {
  return subject.host !== undefined && subject.principal === undefined;
}

const CAUSES: { readonly [Cause in ApprovalCause]: string } = {
  principal_revoked: "what its user had granted or asked for was revoked since; ask again",
  approvers_changed:
    "the approvers have changed, and too few of the present ones have approved; ask again",
};

/**
 * Returns a sentence about the cause by which an approval ended without a decision; `undefined` if it has no
 * such cause.
 */
export function causeWords({ cause }: Pick<Approval, "cause">): string | undefined {
  return cause === undefined ? undefined : CAUSES[cause];
}
