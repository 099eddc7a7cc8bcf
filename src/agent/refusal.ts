import type { Denial, DenialCode } from "../capability/denial.js";
import type { QueryDenial } from "./resources/resource.js";

/**
 * Codes of an issuing agent's own reasons to refuse a call, besides those of checking a capability. Stable.
 *
 * - `capability_missing`: none was given, and ambient authority is not accepted.
 * - `authority_undeclared`: none was given, and the caller does not declare that it uses ambient authority,
 *   which this agent accepts only if it is declared.
 * - `capability_unknown`: an id was given without a token, and no capability of that id was issued to this
 *   caller and is still alive; or the id is not that of the token.
 * - `skill_unknown`: the agent has no such skill.
 * - `arguments_invalid`: the arguments fail the skill's schema.
 * - `handle_invalid`: a handle was not sealed for this capability, stands for another kind of resource than the
 *   skill takes, or the skill needs one and none is given.
 * - `resource_gone`: what the handle stands for is not there any more.
 * - `too_many_revocations`: the caller has as many revocations in the list as it may have, and this is not the
 *   whole of a capability that was issued to it.
 * - `policy_denied`: the principal's policy does not, or no longer, allow it; with the rule `query`, the
 *   resource no longer matches the query that the capability was issued by.
 *
 * A gate for MCP has three more:
 *
 * - `tool_unknown`: the server behind the gate lists no such tool.
 * - `tool_changed`: the server has changed its definition of the tool, and nobody has accepted the change.
 * - `input_unknown`: a retry or an answer does not belong to what the server has asked this caller.
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

/** One reason for which an issuing agent refuses a call. */
export interface AgentDenial extends Omit<Denial, "code"> {
  readonly code: DenialCode | AgentDenialCode;
  /** Which of several capabilities the reason is about: its place in the request, from 0. */
  readonly capability?: number;
}

/** Never empty. */
export type AgentDenials = readonly [AgentDenial, ...AgentDenial[]];

/** A refusal, with every reason. */
export interface Denied {
  readonly ok: false;
  readonly denials: AgentDenials;
}

/** Denials that an answer reports in full; each can repeat an argument of the call. */
export const MOST_DENIALS = 32;

/** The codes of denials, each once, the first one's first. */
export function codesOf(denials: AgentDenials): readonly AgentDenial["code"][] {
  return [...new Set(denials.map(({ code }) => code))];
}

/** Returns whether denials may pass by themselves: a revocation list that is too old may be refreshed. */
export function isPassing(denials: AgentDenials): boolean {
  return denials.every(({ code }) => code === "revocation_stale");
}

/** The denial of a call that presents nothing, where something is required. */
export function missingCapability(): AgentDenial {
  const message = "the call presents no capability, and this agent requires one; request one first";
  return { code: "capability_missing", rule: "capabilities", message };
}

/** The denial of a revocation by a caller that has as many in the list as it may have. */
export function tooManyRevocations(most: number): AgentDenial {
  const message =
    `${most} revocations by this caller stand in the list, as many as may, until their tokens have ` +
    "expired; the party that the capability was issued to can still revoke the whole of it, by its " +
    "id or by the token as it was issued, and the agent's operator can revoke anything";
  return { code: "too_many_revocations", rule: "maxRevocations", expected: most, message };
}

/** The part that took away everything that was requested. */
type TakenBy = "grant" | "request" | "policy" | "approval";

/** A grant under which nothing was issued, and why. */
export interface RefusedGrant {
  readonly grant: string;
  /** Which of grant, request, policy and approval left nothing. */
  readonly takenBy: TakenBy;
  readonly message: string;
}

/**
 * Codes of requests for capabilities that are refused as a whole. Stable.
 *
 * - `invalid_request`: it is not well formed; `message` names the member.
 * - `unknown_grant`, `missing_required_grants`: `grants` lists them.
 * - `resource_query_required`: the grant is for resources, and the request does not say which.
 * - `unknown_collection`, `unknown_field`, `unknown_operator`, `invalid_value`: in the query.
 * - `too_many_resources`: the query matches more than one capability can name.
 * - `nothing_left`: grant, request and policy have nothing in common; `refused` says which took it.
 * - `too_many_pending`: as many requests of the caller wait for an approval as may.
 * - `approval_unknown`: the caller has asked for nothing that an approval of this id is about.
 * - `approval_denied`: an approver denied it, no approver decided in time, it was taken back, or it is void:
 *   what the user had was revoked since, or other people approve it by now.
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

/** The reason why a request for capabilities, or about one, is refused. */
export interface RequestDenial {
  readonly code: RequestDenialCode;
  readonly message: string;
  /** The place in the request. */
  readonly path?: string;
  /** The known values at that place. */
  readonly known?: readonly string[];
  /** The grants concerned. */
  readonly grants?: readonly string[];
  /** The outcome for each grant. */
  readonly refused?: readonly RefusedGrant[];
}

/** A request for capabilities that is refused as a whole. */
export interface RequestRefusal {
  readonly ok: false;
  readonly denial: RequestDenial;
}

/** Refuses a request that is not well formed at a path. */
export function invalidRequest(path: string, message: string): RequestRefusal {
  return { ok: false, denial: { code: "invalid_request", message, path } };
}

/** Refuses a request whose resource query is refused. */
export function refusedQuery({ path, ...denial }: QueryDenial): RequestRefusal {
  return { ok: false, denial: { ...denial, path: `resourceQuery.${path}` } };
}
