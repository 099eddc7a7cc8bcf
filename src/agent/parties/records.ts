// The stored records of hosts, their agents, each agent's grants, and the approvals that people give, the same
// for every protocol. Times are milliseconds since 1970, except within hops.

import type { JsonObject } from "../../bytes/json.js";
import type { Hop } from "../../caveats/hop.js";
import type { GrantApproval } from "../../issuer/grant.js";
import type { Resource } from "../resources/resource.js";

/** A public key as a JWK, and its thumbprint (RFC 7638). */
export interface PublicKey {
  readonly key: JsonObject;
  readonly thumbprint: string;
}

/** The source of a request. */
export interface Origin {
  /** The IPv4 address, or the IPv6 network with a prefix of 64 bits: `192.0.2.1`, `2001:db8:0:1::/64`. */
  readonly address: string;
  /**
   * The surrounding network, with a prefix of 24 bits in IPv4 and 48 bits in IPv6: `192.0.2.0/24`,
   * `2001:db8:0::/48`.
   */
  readonly network: string;
}

/** `enrolling` until the host presents its key; `pending` until a user approves one of its agents. */
export type HostStatus = "enrolling" | "pending" | "active" | "revoked";

/** A client environment that runs agents. It may be linked to a user. */
export interface HostRecord {
  readonly id: string;
  /** The tenant; records of different tenants are never combined. */
  readonly tenant: string;
  readonly name?: string;
  /** Set if the user named the host; the name that the host gives itself is then ignored. */
  readonly named?: true;
  readonly status: HostStatus;
  /** The public key as a JWK, proven by a signature; absent while the host is enrolling or has yet to prove its key. */
  readonly key?: JsonObject;
  /** The key's thumbprint (RFC 7638). At most one host that is not revoked has the same thumbprint. */
  readonly thumbprint?: string;
  /** A key given at enrolment or rotation, until the host signs with the key. Other hosts may be given the same key. */
  readonly unproven?: PublicKey;
  /** The linked user, for whom the host's agents act. */
  readonly principal?: string;
  /** Names of the capabilities that the host's agents get without an approval. */
  readonly defaults: readonly string[];
  /** The origin of the host's registration; removed once a user is linked to the host. */
  readonly from?: Origin;
  /** While the host is enrolling: the SHA-256 of its enrolment token in base64url, and when the token expires. */
  readonly enrolment?: { readonly hash: string; readonly expires: number };
  readonly created: number;
  readonly updated: number;
  readonly lastUsed?: number;
}

/** The mode of an agent: it acts for a user (`delegated`) or for no user (`autonomous`). */
export type AgentMode = "delegated" | "autonomous";

/** The state of an agent. `rejected`: an approver denied its registration. `claimed`: a user has taken it over. */
export type AgentStatus = "pending" | "active" | "expired" | "revoked" | "rejected" | "claimed";

/** An agent registered by a host. */
export interface AgentRecord {
  readonly id: string;
  readonly host: string;
  readonly tenant: string;
  readonly name: string;
  readonly mode: AgentMode;
  readonly status: AgentStatus;
  /** The public key of the agent as a JWK. */
  readonly key: JsonObject;
  readonly thumbprint: string;
  /**
   * Set if a key rotation came without a proof, until the agent signs a JWT with the key. Until then, another
   * agent may take the same key.
   */
  readonly unproven?: true;
  /**
   * The user for whom the agent acts or, if the agent is `claimed`, who has taken it over. Absent if no user is known
   * yet, or the agent is autonomous and not claimed.
   */
  readonly principal?: string;
  /** The approver's reason for denying the registration. */
  readonly denial?: string;
  /**
   * Names of capabilities that people have revoked or denied to the agent. The agent no longer gets them by
   * default.
   */
  readonly withheld?: readonly string[];
  readonly created: number;
  readonly updated: number;
  readonly activated?: number;
  readonly expires?: number;
  readonly lastUsed?: number;
}

/** The state of a grant. An agent may use only an active one. */
export type AgentGrantStatus = "active" | "pending" | "denied" | "revoked";

/** The limits that one party set on a grant. Every token for the grant has them as a hop. */
export interface GrantHop {
  readonly by: "agent" | "server" | "approver";
  /** The approver who set the limits; absent for other parties. */
  readonly who?: string;
  readonly hop: Hop;
}

/** A permission of an agent: one operation under one of the issuing agent's grants, with the hops of every party. */
export interface AgentGrant {
  readonly id: string;
  readonly agent: string;
  readonly host: string;
  /** The capability's name in Agent-Auth: a skill's id. */
  readonly capability: string;
  /** The id of the issuing agent's grant. */
  readonly grant: string;
  readonly operation: string;
  readonly status: AgentGrantStatus;
  readonly hops: readonly GrantHop[];
  /** The capability id, the same in every token minted for the grant. */
  readonly capabilityId: string;
  /** The user on whose behalf the grant is used, or `autonomous:HOST`; set once the grant is active. */
  readonly principal?: string;
  /** The approval for which the grant waits or waited. */
  readonly approval?: string;
  /** The agent's reason, in its own words. */
  readonly purpose?: string;
  /** The approver who gave the grant: the last one, if several approved. Absent if the grant was a default. */
  readonly grantedBy?: string;
  /** The reason for the denial or revocation. */
  readonly reason?: string;
  readonly created: number;
  readonly updated: number;
  readonly expires?: number;
  readonly lastUsed?: number;
}

/** A delegation, as the issuer stores it: the chain up to a token's last link, and who may revoke the delegation. */
export interface DelegationRecord {
  /** A UUID, derived from the revocation id. */
  readonly id: string;
  readonly tenant: string;
  readonly delegator: string;
  readonly delegatee: string;
  readonly scopes: readonly string[];
  readonly revocationId: string;
  /**
   * The revocation ids of the capability's identifier and of each earlier link. The holder of a token that ends
   * with one of these links may revoke this delegation.
   */
  readonly ancestors: readonly string[];
  readonly capabilityId: string;
  /** The user on whose behalf the capability was issued. */
  readonly principal?: string;
  /**
   * The time of the delegation, as the token states it. Absent if the token has no such time; then use {@link
   * DelegationRecord.created}.
   */
  readonly issued?: number;
  readonly expires: number;
  /** The time at which the issuer first saw the delegation. */
  readonly created: number;
  readonly revoked?: number;
}

/** One requested grant. */
export interface AskedGrant {
  readonly grant: string;
  readonly operations: readonly string[];
  /** The issuer's own names of the resources; absent if the grant names none. */
  readonly resources?: readonly Pick<Resource, "name" | "displayName" | "kind">[];
  /** The hops of the requester and of the server, not merged. */
  readonly hops: readonly GrantHop[];
  /** The id of the agent grant for which the decision is made. */
  readonly agentGrant?: string;
  /** The requester's name for the grant, such as a skill's id, if it differs from the grant's id. */
  readonly name?: string;
  /** The effect of the grant, in words for people. */
  readonly description: string;
}

/** The effect of an approval. */
export type ApprovalKind = "agent-grants" | "agent-claim" | "capabilities";

/**
 * The subject of an approval. The approval has a digest (`digestOf`) of subject and rule, and covers this
 * request and anything narrower.
 */
export interface ApprovalSubject {
  /**
   * `agent-grants`: grants become active. `agent-claim`: a user takes over an agent. `capabilities`: the
   * requester collects capabilities.
   */
  readonly kind: ApprovalKind;
  /** The request's id. A request that is sent several times has only one approval. */
  readonly request: string;
  /** Empty if an agent only wants to be linked to a user. */
  readonly asked: readonly AskedGrant[];
  /** The user on whose behalf the agent sends the request; absent if the agent had no user at that time. */
  readonly principal?: string;
  /** The user that the request names, while there is no principal. Only this user may become the agent's user. */
  readonly hintedUser?: string;
  /** The requesting agent: its id as an invoker, and its own name. */
  readonly agent: { readonly id: string; readonly name?: string };
  /** `named` if the user gave the host its name. */
  readonly host?: { readonly id: string; readonly name?: string; readonly named?: true };
  readonly audience?: readonly string[];
  /** The reason, in the requester's words. */
  readonly purpose?: string;
  /** A text that both requester and approver see, so that the approver can recognize the request. */
  readonly bindingMessage?: string;
  /** Longest lifetime of the grant in seconds; a hop may set a shorter one. */
  readonly lifetime: number;
  /** The resource query of the request, as JSON. */
  readonly query?: string;
  /** The digest (`digestOfJson`) of the whole request, including grants that need no approval. */
  readonly whole?: string;
}

/**
 * The state of an approval. `approved` becomes `used` once its grants have been handed out; for agents' grants,
 * in the same transaction. All states except `pending` and `approved` are final.
 */
export type ApprovalState = "pending" | "approved" | "used" | "denied" | "expired" | "cancelled";

/**
 * The reason why an approval ended without a decision. `principal_revoked` (cancelled): all capabilities of its
 * principal were revoked after the approval was opened. `approvers_changed` (denied): too few approvers under
 * the current rule have approved or can still approve.
 */
export type ApprovalCause = "principal_revoked" | "approvers_changed";

/**
 * The approvers, and how many of them must approve. One denial denies the request. If the subject has no
 * principal yet, the user that the request names, or the user who enters the user code, must approve as well.
 */
export type ApprovalRule = Omit<GrantApproval, "lifetime">;

/** The decision of one approver. */
export interface ApprovalDecision {
  readonly approver: string;
  readonly at: number;
  readonly answer: "approve" | "deny";
  /** True if the approver became the agent's user by this decision. */
  readonly takesOn?: true;
  /** The indexes of the approved grants in the request; all unless given. The other grants are denied. */
  readonly granted?: readonly number[];
  /** The hop that the approver adds to each grant, by the grant's index. */
  readonly hops?: { readonly [place: string]: Hop };
  readonly reason?: string;
}

/** An approval, pending or settled. */
export interface Approval {
  readonly id: string;
  /**
   * The digest of subject and rule, as `digestOf` returns it. Each decision must name this digest, so that
   * approvers decide what they saw.
   */
  readonly digest: string;
  readonly subject: ApprovalSubject;
  readonly state: ApprovalState;
  readonly cause?: ApprovalCause;
  readonly rule: ApprovalRule;
  /** The way in which approvers find the request: by a code that the user enters, or in their list. */
  readonly method: "user_code" | "backchannel";
  /** SHA-256 of the user code in base64url. */
  readonly codeHash?: string;
  readonly decisions: readonly ApprovalDecision[];
  /** The ids of the collected capabilities, by the index of the requested grant. */
  readonly collected?: { readonly [place: string]: string };
  readonly created: number;
  readonly updated: number;
  readonly expires: number;
}
