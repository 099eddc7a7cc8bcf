// src/protocols/agent-auth: an issuing agent over Agent-Auth 1.0-draft: HTTP and JSON shapes on one side,
// calls of agent/ on the other; agent-auth/client is the agent's side. This file has its error codes.

import type { JsonObject } from "../../bytes/json.js";
import type { HttpFault } from "../../http/fault.js";

/** The HTTP status of each error code; an answer says both. Stable. */
export const STATUS = {
  invalid_request: 400,
  unknown_constraint_operator: 400,
  invalid_capabilities: 400,
  unsupported_mode: 400,
  unsupported_algorithm: 400,
  invalid_public_key: 400,
  invalid_jwt: 401,
  jti_replay: 401,
  request_binding_mismatch: 401,
  authentication_required: 401,
  enrollment_token_invalid: 401,
  enrollment_token_expired: 401,
  agent_revoked: 403,
  agent_expired: 403,
  agent_pending: 403,
  agent_rejected: 403,
  agent_claimed: 403,
  host_revoked: 403,
  host_pending: 403,
  absolute_lifetime_exceeded: 403,
  dynamic_host_registration_disabled: 403,
  unauthorized: 403,
  capability_not_granted: 403,
  grant_revoked: 403,
  constraint_violated: 403,
  limit_exceeded: 403,
  agent_not_found: 404,
  host_not_found: 404,
  capability_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  agent_exists: 409,
  already_granted: 409,
  host_already_linked: 409,
  key_in_use: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

/** What an error is called in `error`. Stable. */
export type AgentAuthCode = keyof typeof STATUS;

/** Why a request is refused, in the protocol's words. */
export interface Fault {
  readonly ok: false;
  readonly code: AgentAuthCode;
  /** A sentence for people; never shows a token or a key. */
  readonly message: string;
  /** The HTTP status, where it is another than the code's own. */
  readonly status?: number;
  /** What else the answer has beside `error` and `message`. */
  readonly more?: JsonObject;
  /** Seconds, as the header `Retry-After` says. */
  readonly retryAfter?: number;
  /** Codes of a capability's denials, for the header `Proviso-Denial`. */
  readonly codes?: readonly string[];
  /** Whether there is nothing to record: what refused it has done that, or nothing was shown. */
  readonly unrecorded?: boolean;
}

/** Refuses a request. */
export function refuse(
  code: AgentAuthCode,
  message: string,
  more: Omit<Fault, "ok" | "code" | "message"> = {},
): Fault {
  return { ok: false, code, message, ...more };
}

/** What HTTP found wrong before the protocol read the request. */
export function fromHttp({ status, message, retryAfter }: HttpFault): Fault {
  return refuse(CODE_OF_STATUS[status], message, retryAfter === undefined ? {} : { retryAfter });
}

const CODE_OF_STATUS: { readonly [Status in HttpFault["status"]]: AgentAuthCode } = {
  400: "invalid_request",
  401: "authentication_required",
  413: "payload_too_large",
  415: "unsupported_media_type",
  429: "rate_limited",
  500: "internal_error",
  503: "unavailable",
};
