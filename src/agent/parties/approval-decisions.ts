// Checks of approvers' decisions: who may decide, and whether a decision is valid.

import { timingSafeEqual } from "node:crypto";
import { CAPABILITY_LIMITS } from "../../capability/limits.js";
import { withoutDurations } from "../../caveats/durations.js";
import type { Hop, HopInit } from "../../caveats/hop.js";
import { mistakesIn } from "../../caveats/operation-mistakes.js";
import { canonicalHop, encodeHop } from "../../caveats/write-hop.js";
import { causeWords, MAX_HOPS_BYTES, resultOf } from "./approval-results.js";
import { isApproved, mayDecide, mayTakeOn } from "./approval-rules.js";
import type { Approval, ApprovalDecision, ApprovalRule, ApprovalState } from "./records.js";
import { hashOfUserCode } from "./user-codes.js";

/** The deciding principal. */
export interface Approver {
  /** The authenticated principal of the request that decides. */
  readonly principal: string;
  /** The user code as typed; required unless the principal is one of the known approvers. */
  readonly userCode?: string | undefined;
  /** True if an operator of this installation decides in the principal's place; the ledger records this. */
  readonly operator?: boolean | undefined;
}

/** The decision of an approver. */
export interface ApproverAnswer {
  readonly answer: "approve" | "deny";
  /** The digest of what the approver saw. */
  readonly digest: string;
  /** The indexes of the approved grants in the request; all grants unless given. */
  readonly granted?: readonly number[] | undefined;
  /**
   * The limits that the approver adds to each grant, by the grant's index: constraints, times, operations and
   * so on.
   */
  readonly hops?: { readonly [place: string]: HopInit } | undefined;
  /** The reason, which is reported to the requester. */
  readonly reason?: string | undefined;
}

/**
 * Codes of refused decisions. Stable.
 *
 * - `approval_unknown`: there is no such approval.
 * - `approval_settled`: the approval has been decided, or this approver has decided already.
 * - `approval_expired`: the approval has expired.
 * - `approver_denied`: this user may not decide the approval.
 * - `user_code_invalid`: the user code is missing or wrong.
 * - `digest_mismatch`: the approver saw a different request.
 * - `hop_invalid`: a hop, an index or the reason is not valid, or the hops are too large.
 * - `host_taken`: the agent's host has been linked to another user; approving would grant nothing.
 * - `agent_ended`: the agent or its host has ended; approving would grant nothing.
 */
export type DecisionCode =
  | "approval_unknown"
  | "approval_settled"
  | "approval_expired"
  | "approver_denied"
  | "user_code_invalid"
  | "digest_mismatch"
  | "hop_invalid"
  | "host_taken"
  | "agent_ended";

/** A refused decision. */
export interface DecisionRefusal {
  readonly ok: false;
  readonly code: DecisionCode;
  readonly message: string;
}

const MAX_REASON = 512;

// Keys that an approver cannot set, because they only make sense for the token that is minted after the
// approval.
const NOT_TAKEN_AWAY = ["resourceHandles", "maxFurtherHops", "nonce"] as const;

/**
 * Adds a decision to an approval, or returns the refusal of the decision.
 *
 * @param inForce - Current rules that must be met besides the approval's own rule.
 */
export function withDecision(
  approval: Approval,
  by: Approver,
  given: ApproverAnswer,
  now: number,
  inForce: readonly ApprovalRule[],
): { readonly ok: true; readonly approval: Approval } | DecisionRefusal {
  if (approval.state === "expired" || (approval.state === "pending" && approval.expires <= now)) {
    return refuseDecision("approval_expired", "its time is over; the agent can ask again");
  }
  if (approval.state !== "pending") {
    const why = causeWords(approval);
    const more = why === undefined ? "" : `, since ${why}`;
    return refuseDecision("approval_settled", `it is settled already: ${approval.state}${more}`);
  }
  const standing = approverPart(approval, by, inForce);
  if ("code" in standing) return standing;
  if (given.digest !== approval.digest) {
    return refuseDecision(
      "digest_mismatch",
      "what was shown is not what is asked; look at it again",
    );
  }
  const decision = decisionOf(approval, by, given, now);
  if ("code" in decision) return decision;
  const decisions = [...approval.decisions, { ...decision, ...standing }];
  const decided: Approval = { ...approval, decisions, updated: now };
  return { ok: true, approval: { ...decided, state: decidedState(decided, inForce, now) } };
}

/**
 * Returns a refusal if this principal may not decide. Otherwise returns whether the decision makes the
 * principal the agent's user.
 */
function approverPart(
  approval: Approval,
  { principal, userCode }: Approver,
  inForce: readonly ApprovalRule[],
): Pick<ApprovalDecision, "takesOn"> | DecisionRefusal {
  if (approval.decisions.some(({ approver }) => approver === principal)) {
    return refuseDecision("approval_settled", "this approver has decided already");
  }
  const known = mayDecide(approval, principal, inForce);
  const open = mayTakeOn(approval, principal);
  if (userCode === undefined) {
    if (known) return approval.subject.hintedUser === principal && open ? { takesOn: true } : {};
    if (!open) return refuseDecision("approver_denied", "another user decides about it");
    return refuseDecision(
      "user_code_invalid",
      "the user code that the agent shows must be entered",
    );
  }
  if (!known && !open) return refuseDecision("approver_denied", "another user decides about it");
  if (!isUserCodeOf(approval, userCode)) {
    return refuseDecision("user_code_invalid", "it is not the user code that the agent shows");
  }
  return open ? { takesOn: true } : {};
}

function isUserCodeOf({ codeHash }: Approval, typed: string): boolean {
  const hash = hashOfUserCode(typed);
  if (hash === undefined || codeHash === undefined) return false;
  const [a, b] = [Buffer.from(hash), Buffer.from(codeHash)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function decisionOf(
  approval: Approval,
  { principal }: Approver,
  { answer, granted, hops = {}, reason }: ApproverAnswer,
  now: number,
): ApprovalDecision | DecisionRefusal {
  const { asked } = approval.subject;
  const isPlace = (place: number): boolean => Number.isSafeInteger(place) && place in asked;
  if (granted?.every(isPlace) === false) {
    return refuseDecision(
      "hop_invalid",
      `granted: the places of what is asked are 0 to ${asked.length - 1}`,
    );
  }
  if (reason !== undefined && reason.length > MAX_REASON) {
    return refuseDecision("hop_invalid", `reason: must have at most ${MAX_REASON} characters`);
  }
  const own: { [place: string]: Hop } = {};
  for (const [place, init] of Object.entries(hops)) {
    if (!isPlace(Number(place)) || String(Number(place)) !== place) {
      return refuseDecision(
        "hop_invalid",
        `hops: the places of what is asked are 0 to ${asked.length - 1}`,
      );
    }
    const hop = readHop(init, now);
    if (typeof hop === "string") return refuseDecision("hop_invalid", `hops.${place}: ${hop}`);
    // The operations of `operationConstraints` must be requested operations. A limit with a misspelt operation
    // would apply to nothing.
    const [mistake] = mistakesIn(hop, asked[Number(place)]?.operations);
    if (mistake !== undefined) {
      return refuseDecision("hop_invalid", `hops.${place}: ${mistake.message}`);
    }
    const others = approval.decisions.map((decision) => decision.hops?.[place]);
    const demanded = asked[Number(place)]?.hops.map((one) => one.hop) ?? [];
    const size = sizeOf([...demanded, ...others, hop]);
    if (size > MAX_HOPS_BYTES) {
      const message = `hops.${place}: all hops together take ${size} bytes, and ${MAX_HOPS_BYTES} is the limit`;
      return refuseDecision("hop_invalid", message);
    }
    own[place] = hop;
  }
  return {
    approver: principal,
    at: now,
    answer,
    ...(granted === undefined ? {} : { granted: [...new Set(granted)].sort((a, b) => a - b) }),
    ...(Object.keys(own).length === 0 ? {} : { hops: own }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Returns a hop in canonical form, or a sentence that says what is wrong with the hop. */
function readHop(init: HopInit, now: number): Hop | string {
  try {
    const members = Object.keys(init);
    const other = NOT_TAKEN_AWAY.find((key) => members.includes(key));
    if (other !== undefined) return `"${other}" cannot be said before there is a token`;
    const { hop, bytes } = canonicalHop(withoutDurations(init, now));
    const most = CAPABILITY_LIMITS.caveatBytes;
    return bytes.length <= most ? hop : `it takes ${bytes.length} bytes, and ${most} is the limit`;
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return error.message;
    throw error;
  }
}

/** Returns the total bytes of hops. */
export function sizeOf(hops: readonly (Hop | undefined)[]): number {
  return hops.reduce((sum, hop) => sum + (hop === undefined ? 0 : encodeHop(hop).length), 0);
}

function decidedState(
  approval: Approval,
  inForce: readonly ApprovalRule[],
  now: number,
): ApprovalState {
  if (approval.decisions.some(({ answer }) => answer === "deny")) return "denied";
  const result = resultOf(approval, now);
  if (result.length > 0 && result.every(({ granted }) => !granted)) return "denied";
  return isApproved(approval, inForce) ? "approved" : "pending";
}

export function refuseDecision(code: DecisionCode, message: string): DecisionRefusal {
  return { ok: false, code, message };
}
