import type { Denial, DenialCode } from "../capability/denial.js";
import type { QueryDenial } from "./resources/resource.js";

/**
 * Codes for the reasons why an issuing agent refuses a call. Denials of capabilities have further codes, see
 * {@link DenialCode}. The codes are stable.
 *
 * - `capability_missing`: no capability was presented, and ambient authority is not accepted.
 * - `authority_undeclared`: no capability was presented, and this agent accepts ambient authority only from
 *   callers that declare it.
 * - `capability_unknown`: only an id was presented, and no live capability with this id was issued to this
 *   caller; or an id and a token were presented, and the id is not the token's.
 * - `skill_unknown`: the agent has no such skill.
 * - `arguments_invalid`: the arguments fail the skill's schema.
 * - `handle_invalid`: a handle was not made for this capability, or names a different kind of resource than the
 *   skill accepts; or the skill needs a handle and none was given.
 * - `resource_gone`: the resource of a handle no longer exists.
 * - `too_many_revocations`: the caller has the maximum number of revocations in the list. The caller can still
 *   revoke a whole capability that was issued to it.
 * - `policy_denied`: the principal's policy does not allow the call, or no longer allows it. With the rule
 *   `query`: the resource no longer matches the query by which the capability was issued. With the rule of a limit,
 *   such as `operationConstraints.send.amount.max`: the arguments violate a limit that the policy sets.
 *
 * A gate for MCP has three more codes:
 *
 * - `tool_unknown`: the server behind the gate lists no such tool.
 * - `tool_changed`: the server has changed its definition of the tool, and nobody has accepted the change.
 * - `input_unknown`: a retry or an answer matches no question that the server has asked this caller.
 */
export type AgentDenialCode =
  | "capability_missing"
  | "authority_undeclared"
  | "capability_unknown"
  | "skill_unknown"
  | "arguments_invalid"
  | "handle_invalid"
  | "resource_gone"
  | "too_many_revocations"
  | "policy_denied"
  | "tool_unknown"
  | "tool_changed"
  | "input_unknown";

/** One reason why an issuing agent refuses a call. */
export interface AgentDenial extends Omit<Denial, "code"> {
  readonly code: DenialCode | AgentDenialCode;
  /** If several capabilities were presented: the index, in the request, of the capability that the reason is about. */
  readonly capability?: number;
}

/** The reasons of a refusal: at least one. */
export type AgentDenials = readonly [AgentDenial, ...AgentDenial[]];

/** A refusal, with every reason. */
export interface Denied {
  readonly ok: false;
  readonly denials: AgentDenials;
}

/** Maximum number of denials that one answer reports in full, since each can repeat an argument of the call. */
export const MOST_DENIALS = 32;

/** Returns the distinct codes of denials, in order. */
export function codesOf(denials: AgentDenials): readonly AgentDenial["code"][] {
  return [...new Set(denials.map(({ code }) => code))];
}

/** Returns whether all denials are temporary. Only `revocation_stale` is temporary: the list may be refreshed. */
export function isPassing(denials: AgentDenials): boolean {
  return denials.every(({ code }) => code === "revocation_stale");
}

/** Returns the denial of a call without the required capability. */
export function missingCapability(): AgentDenial {
  const message = "the call presents no capability, and this agent requires one; request one first";
  return { code: "capability_missing", rule: "capabilities", message };
}

/** Returns the denial of a revocation by a caller that has reached its limit. */
export function tooManyRevocations(most: number): AgentDenial {
  const message =
    `this caller already has ${most} live revocations, the maximum; wait until their tokens have ` +
    "expired. The party that the capability was issued to can still revoke the whole of it, by its " +
    "id or by the token as it was issued, and the agent's operator can revoke anything";
  return { code: "too_many_revocations", rule: "maxRevocations", expected: most, message };
}

type TakenBy = "grant" | "request" | "policy" | "approval";

/** A grant under which nothing was issued, with the reason. */
export interface RefusedGrant {
  readonly grant: string;
  /** The cause: the grant, the request, the policy or the approval left nothing. */
  readonly takenBy: TakenBy;
  readonly message: string;
}

/**
 * Codes for requests for capabilities that are refused as a whole; stable.
 *
 * - `invalid_request`: the request is malformed; `message` names the property.
 * - `unknown_grant`, `missing_required_grants`: `grants` lists the unknown or missing grants.
 * - `resource_query_required`: the grant needs resources, and the request has no query.
 * - `unknown_collection`, `unknown_field`, `unknown_operator`, `invalid_value`: a problem in the query.
 * - `too_many_resources`: the query matches more resources than one capability can name.
 * - `nothing_left`: grant, request and policy have nothing in common, or nothing of an approved request is left;
 *   `refused` has the cause for each grant.
 * - `too_many_pending`: the caller has the maximum number of requests that wait for an approval.
 * - `approval_unknown`: the caller has no request with an approval of this id.
 * - `approval_denied`: an approver denied the request, nobody decided in time, the request was cancelled, or
 *   the approval became void because the user's capabilities were revoked or the approvers changed.
 */
export type RequestDenialCode =
  | "invalid_request"
  | "unknown_grant"
  | "missing_required_grants"
  | "resource_query_required"
  | QueryDenial["code"]
  | "too_many_resources"
  | "nothing_left"
  | "too_many_pending"
  | "approval_unknown"
  | "approval_denied";

/** The reason why a request for capabilities, or the collection of an approval, is refused. */
export interface RequestDenial {
  readonly code: RequestDenialCode;
  readonly message: string;
  /** The invalid place in the request, such as `resourceQuery.filter`. */
  readonly path?: string;
  /** The valid values at `path`. */
  readonly known?: readonly string[];
  /** The grants that the denial is about. */
  readonly grants?: readonly string[];
  /** The grants under which nothing was issued, each with the reason. */
  readonly refused?: readonly RefusedGrant[];
}

/** A request for capabilities that is refused as a whole. */
export interface RequestRefusal {
  readonly ok: false;
  readonly denial: RequestDenial;
}

export function invalidRequest(path: string, message: string): RequestRefusal {
  return { ok: false, denial: { code: "invalid_request", message, path } };
}

/** Returns the refusal of a request because of its resource query. */
export function refusedQuery({ path, ...denial }: QueryDenial): RequestRefusal {
  return { ok: false, denial: { ...denial, path: `resourceQuery.${path}` } };
}
