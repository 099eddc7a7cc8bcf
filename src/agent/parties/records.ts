// src/agent/parties: hosts, their agents, each agent's permissions, and the decisions that people make before something is
// granted, the same for every protocol. This file has the stored records. Times are milliseconds since 1970 unless a hop
// has them.

import type { JsonObject } from "../../bytes/json.js";
import type { Hop } from "../../caveats/hop.js";
import type { GrantApproval } from "../../issuer/grant.js";
import type { Resource } from "../resources/resource.js";

/** A public key as a JWK, and its thumbprint (RFC 7638). */
export interface PublicKey {
  readonly key: JsonObject;
  readonly thumbprint: string;
}

/** The origin of a request. */
export interface Origin {
  /** An IPv4 address, or the IPv6 network of 64 bits that one party has: `192.0.2.1`, `2001:db8:0:1::/64`. */
  readonly address: string;
  /** The network around it, of 24 bits in IPv4 and 48 in IPv6: `192.0.2.0/24`, `2001:db8:0::/48`. */
  readonly network: string;
}

/** `enrolling` until it gives its key, `pending` until a user approves an agent of it. */
export type HostStatus = "enrolling" | "pending" | "active" | "revoked";

/** A client environment that runs agents, and the user that it is linked to. */
export interface HostRecord {
  readonly id: string;
  /** Hosts and agents of different tenants have nothing to do with each other. */
  readonly tenant: string;
  readonly name?: string;
  /** Set where its user gave it the name, which the host's own name for itself then does not replace. */
  readonly named?: true;
  readonly status: HostStatus;
  /** Its public key as a JWK, under which it has signed; absent while it is enrolling or has one to prove. */
  readonly key?: JsonObject;
  /** The key's thumbprint (RFC 7638): no two hosts that are not revoked share one. */
  readonly thumbprint?: string;
  /**
   * A key that it was given at enrolment or rotation, in place of `key`, until it signs under it. Such a key reserves
   * nothing: other hosts may be given it too.
   */
  readonly unproven?: PublicKey;
  /** The user that it is linked to: its agents act for that user. */
  readonly principal?: string;
  /** Names of the capabilities that its agents get without an approval. */
  readonly defaults: readonly string[];
  /** The address that it registered from; removed once a user is linked to it. */
  readonly from?: Origin;
  /** While it is enrolling: SHA-256 of the enrolment token in base64url, and when that ends. */
  readonly enrolment?: { readonly hash: string; readonly expires: number };
  readonly created: number;
  readonly updated: number;
  readonly lastUsed?: number;
}

/** On whose behalf an agent acts: a user's, or its own. */
export type AgentMode = "delegated" | "autonomous";

/** The state of an agent; `rejected` if an approver denied its registration, `claimed` once a user took it over. */
export type AgentStatus = "pending" | "active" | "expired" | "revoked" | "rejected" | "claimed";

/** An agent that a host has registered. */
export interface AgentRecord {
  readonly id: string;
  readonly host: string;
  readonly tenant: string;
  readonly name: string;
  readonly mode: AgentMode;
  readonly status: AgentStatus;
  /** Its public key as a JWK. */
  readonly key: JsonObject;
  readonly thumbprint: string;
  /** Set from a rotation without a proof until a JWT under the key: such a key keeps no other agent from it. */
  readonly unproven?: true;
  /** The user that it acts for; absent where it acts for none, or none is known yet. */
  readonly principal?: string;
  /** The approver's reason for denying it. */
  readonly denial?: string;
  /** Names of capabilities that people have revoked or denied to it, so that it no longer gets them by default. */
  readonly withheld?: readonly string[];
  readonly created: number;
  readonly updated: number;
  readonly activated?: number;
  readonly expires?: number;
  readonly lastUsed?: number;
}

/** The state of a grant. An agent may use only an active one. */
export type AgentGrantStatus = "active" | "pending" | "denied" | "revoked";

/** The limits that one party set on a grant: a hop of every token that is minted for it. */
export interface GrantHop {
  readonly by: "agent" | "server" | "approver";
  /** The approver. */
  readonly who?: string;
  readonly hop: Hop;
}

/** A permission of an agent: one operation under one of the issuing agent's grants, with every party's hops. */
export interface AgentGrant {
  readonly id: string;
  readonly agent: string;
  readonly host: string;
  /** Its name in Agent-Auth: a skill's id. */
  readonly capability: string;
  /** The issuing agent's grant, and the skill's operation in it. */
  readonly grant: string;
  readonly operation: string;
  readonly status: AgentGrantStatus;
  readonly hops: readonly GrantHop[];
  /** The id of the capability: the same in every token that is minted for the grant. */
  readonly capabilityId: string;
  /** The user on whose behalf it is used; set once it is active. */
  readonly principal?: string;
  /** The approval that it waits for, or waited for. */
  readonly approval?: string;
  /** The agent's reason, in its own words. */
  readonly purpose?: string;
  /** The approver who granted it; absent if the defaults did. */
  readonly grantedBy?: string;
  /** The reason for its denial. */
  readonly reason?: string;
  readonly created: number;
  readonly updated: number;
  readonly expires?: number;
  readonly lastUsed?: number;
}

/** A chain of the delegation protocol, as the issuer keeps it: a token's last link, and who may revoke it. */
export interface DelegationRecord {
  /** A UUID, derived from the revocation id. */
  readonly id: string;
  readonly tenant: string;
  readonly delegator: string;
  readonly delegatee: string;
  readonly scopes: readonly string[];
  readonly revocationId: string;
  /**
   * The revocation ids of the capability's identifier and of each link before the last; a holder of one of
   * these may revoke it.
   */
  readonly ancestors: readonly string[];
  readonly capabilityId: string;
  /** The user on whose behalf the capability was issued. */
  readonly principal?: string;
  /** Absent where the token does not say; then {@link DelegationRecord.created} stands for it. */
  readonly issued?: number;
  readonly expires: number;
  /** The time when the issuer first saw it. */
  readonly created: number;
  readonly revoked?: number;
}

/** One grant that is asked for. */
export interface AskedGrant {
  readonly grant: string;
  readonly operations: readonly string[];
  /** The issuer's own names of the resources; absent where it names none. */
  readonly resources?: readonly Pick<Resource, "name" | "displayName" | "kind">[];
  /** Hops that the asker and the server already demand; they are kept apart, not merged. */
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
  /** Empty where an agent asks only to be linked to a user. */
  readonly asked: readonly AskedGrant[];
  /** The user on whose behalf the agent asks; absent until the first approver is linked to it. */
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
  /** The indexes of the approved grants in the request; all unless given. The others are denied. */
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
  /** The ids of the capabilities that were collected, by the index of the requested grant. */
  readonly collected?: { readonly [place: string]: string };
  readonly created: number;
  readonly updated: number;
  readonly expires: number;
}
