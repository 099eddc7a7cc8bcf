// src/agent/approvals: the decisions that people make before something is granted, the same for every protocol.
// This file has the stored records. Times are milliseconds since 1970, except in hops.

import type { Hop } from "../../caveats/hop.js";
import type { GrantApproval } from "../../issuer/grant.js";
import type { GrantHop } from "../registry/records.js";
import type { Resource } from "../resources/resource.js";

/** One grant that is asked for. */
export interface AskedGrant {
  readonly grant: string;
  readonly operations: readonly string[];
  /** The issuer's own names of the resources; absent where it names none. */
  readonly resources?: readonly Pick<Resource, "name" | "displayName" | "kind">[];
  /** Hops that the asker and the server already demand; nothing merges. */
  readonly hops: readonly GrantHop[];
  /** The agent grant that waits for it. */
  readonly agentGrant?: string;
  /** The asker's name for the grant, if it differs: a skill's id. */
  readonly name?: string;
  /** Its effect, in words for people. */
  readonly description: string;
}

/** The effect of an approval. */
export type ApprovalKind = "agent-grants" | "agent-claim" | "capabilities";

/**
 * The subject of an approval. With the rule, it is bound to the approval by a digest (`digestOf`); the approval
 * covers this and anything narrower.
 */
export interface ApprovalSubject {
  /** Agent grants become active, a user takes over an agent, or the asker collects capabilities. */
  readonly kind: ApprovalKind;
  /** The request's id: one request has one approval, however often it is sent. */
  readonly request: string;
  /** Empty where an agent asks only to be taken on. */
  readonly asked: readonly AskedGrant[];
  /** The user on whose behalf; absent until the first approver takes an agent on. */
  readonly principal?: string;
  /** The user that the asker names while there is no principal: only this user may take the agent on. */
  readonly hintedUser?: string;
  /** The asking agent: an invoker's id, and the agent's name for itself. */
  readonly agent: { readonly id: string; readonly name?: string };
  /** `named` where its user gave it the name. */
  readonly host?: { readonly id: string; readonly name?: string; readonly named?: true };
  readonly audience?: readonly string[];
  /** The reason, in the asker's words. */
  readonly purpose?: string;
  /** A text that asker and approver both see, so that the approver knows which request it is. */
  readonly bindingMessage?: string;
  /** Longest lifetime of the grant in seconds; a hop may set a shorter one. */
  readonly lifetime: number;
  /** The resource query that it was asked by, as JSON. */
  readonly query?: string;
  /** The digest (`digestOfJson`) of the whole request, which may also ask for what needs no approval. */
  readonly whole?: string;
}

/**
 * The state of an approval. `approved` becomes `used` once its grants have been handed out; for agent grants in
 * the same change. All states but `pending` and `approved` are final.
 */
export type ApprovalState = "pending" | "approved" | "used" | "denied" | "expired" | "cancelled";

/**
 * The reason why an approval ended without a decision: `principal_revoked` (cancelled) if all capabilities of
 * its principal were revoked after it was opened; `approvers_changed` (denied) if those who have approved, or
 * still can, are not enough under the rule in force.
 */
export type ApprovalCause = "principal_revoked" | "approvers_changed";

/**
 * The approvers, and how many of them must approve; one denial denies. If the subject names no principal yet,
 * the user named by the asker, or the one who enters the user code, must approve as well as the rule's
 * approvers.
 */
export type ApprovalRule = Omit<GrantApproval, "lifetime">;

/** The decision of one approver. */
export interface ApprovalDecision {
  readonly approver: string;
  readonly at: number;
  readonly answer: "approve" | "deny";
  /** True if it is the user that takes the agent on, where the subject names no principal. */
  readonly takesOn?: true;
  /** Which of the grants asked for, by their places; all unless given. The others are denied. */
  readonly granted?: readonly number[];
  /** The limits that the approver adds to each grant, by its index, each a further hop. */
  readonly hops?: { readonly [place: string]: Hop };
  readonly reason?: string;
}

/** An approval, decided or not. */
export interface Approval {
  readonly id: string;
  /** From `digestOf`, of subject and rule: what approvers saw and decided about. */
  readonly digest: string;
  readonly subject: ApprovalSubject;
  readonly state: ApprovalState;
  readonly cause?: ApprovalCause;
  readonly rule: ApprovalRule;
  /** How approvers find it: by a code that the user enters, or in their list. */
  readonly method: "user_code" | "backchannel";
  /** SHA-256 of the user code in base64url. */
  readonly codeHash?: string;
  readonly decisions: readonly ApprovalDecision[];
  /** The ids of the capabilities that were collected, by the places of the grants asked for. */
  readonly collected?: { readonly [place: string]: string };
  readonly created: number;
  readonly updated: number;
  readonly expires: number;
}
