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
  /** Its place among the grants asked for. */
  readonly place: number;
  readonly granted: boolean;
  /** The reason why it is not granted, for the asker. */
  readonly reason?: string;
  /** The limits added by each approver, a hop each, in the order of their decisions. */
  readonly hops: readonly { readonly who: string; readonly hop: Hop }[];
}

/** Bytes that all hops of one grant may take together, the issuer's own apart: a token has 8 KiB. */
export const MAX_HOPS_BYTES = 4096;

/**
 * A grant is granted if every approver grants it, and all hops together, the asker's too, allow something.
 *
 * @param now - Milliseconds since 1970.
 * @throws TypeError if the value is not an approval.
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
    const reason = "nothing is left of it after what the approvers took away";
    return { asked, place, granted: false, reason, hops };
  });
}

/** @throws TypeError if the value is not an approval, such as a Promise of one. */
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
 * Returns the asker's own limits; its number of further hops counts holders' hops, not those of approvers.
 *
 * @param following - How many hops of approvers there are.
 */
export function sealedAfter(hop: Hop, following: number): Hop {
  const { maxFurtherHops: most } = hop;
  return most === undefined ? hop : { ...hop, maxFurtherHops: most + following };
}

/** The user on whose behalf: the subject's, or the one that took the agent on; `undefined` until then. */
export function principalOf(approval: Pick<Approval, "subject" | "decisions">): string | undefined {
  const { subject, decisions } = checkedParts(approval);
  const taker = decisions.find(({ takesOn }) => takesOn === true);
  return subject.principal ?? taker?.approver;
}

/** True if no user had taken the asking host on: its words are a stranger's. */
export function isFromStranger({ subject }: Pick<Approval, "subject">): boolean {
  return subject.host !== undefined && subject.principal === undefined;
}

const CAUSES: { readonly [Cause in ApprovalCause]: string } = {
  principal_revoked: "what its user had granted or asked for was revoked since; ask again",
  approvers_changed: "other people approve it by now, and too few of them have; ask again",
};

/** Explains to the asker why an approval ended without a final decision; `undefined` for any other. */
export function causeWords({ cause }: Pick<Approval, "cause">): string | undefined {
  return cause === undefined ? undefined : CAUSES[cause];
}
