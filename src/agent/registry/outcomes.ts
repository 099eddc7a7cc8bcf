import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";

/**
 * Codes of the registry's refusals. Stable; Agent-Auth's own where it has one.
 *
 * - `invalid_request`: it is not well formed; `path` says where.
 * - `invalid_capabilities`: there are no capabilities of these names.
 * - `unknown_constraint_operator`: `operators` lists the unknown ones.
 * - `rate_limited`: as many hosts have registered lately as may; `retryAfter` says when to ask again.
 * - `limit_exceeded`: there are as many hosts of a user, agents, grants or open approvals as there may be.
 * - `request_reused`: an idempotency key was used for another request.
 * - `hosts_not_allowed`: hosts cannot register themselves here; one is made by its user.
 * - `key_in_use`: another host or agent has the key.
 */
export type RegistryCode =
  | "invalid_request"
  | "invalid_capabilities"
  | "unknown_constraint_operator"
  | "unsupported_mode"
  | "unauthorized"
  | "agent_not_found"
  | "agent_exists"
  | "agent_pending"
  | "agent_expired"
  | "agent_rejected"
  | "agent_revoked"
  | "agent_claimed"
  | "absolute_lifetime_exceeded"
  | "host_not_found"
  | "host_pending"
  | "host_revoked"
  | "host_already_linked"
  | "hosts_not_allowed"
  | "enrolment_token_invalid"
  | "enrolment_token_expired"
  | "key_in_use"
  | "already_granted"
  | "capability_not_granted"
  | "grant_not_found"
  | "rate_limited"
  | "limit_exceeded"
  | "request_reused";

/** A refusal with its reason. Nothing was changed. */
export interface RegistryRefusal {
  readonly ok: false;
  readonly code: RegistryCode;
  readonly message: string;
  /** The place in the request. */
  readonly path?: string;
  /** The names of the capabilities concerned. */
  readonly capabilities?: readonly string[];
  /** The unknown operators. */
  readonly operators?: readonly string[];
  /** Seconds after which to ask again. */
  readonly retryAfter?: number;
}

/** The answer to a request: what there is now, or why not. */
export type Outcome<Answer> = ({ readonly ok: true } & Answer) | RegistryRefusal;

/** The answer to a host's request about an agent. */
export interface AgentAnswer {
  readonly host: HostRecord;
  readonly agent: AgentRecord;
  /** Those that the request is about: all of a new agent's, and those asked for of another. */
  readonly grants: readonly AgentGrant[];
}

export function refuse(
  code: RegistryCode,
  message: string,
  more: Pick<RegistryRefusal, "path" | "capabilities" | "operators" | "retryAfter"> = {},
): RegistryRefusal {
  return { ok: false, code, message, ...more };
}

/** Leaves a change of the registry, which then changes nothing. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: RegistryRefusal;

  constructor(refusal: RegistryRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Leaves a change of the registry with a refusal. */
export function leave(...refusal: Parameters<typeof refuse>): never {
  throw new Refused(refuse(...refusal));
}
