// src/protocols/agent-auth: an issuing agent over Agent-Auth 1.0-draft: HTTP and JSON shapes on one side,
// calls of agent/ on the other; agent-auth/client is the agent's side. This file has its error codes.

import { type AgentDenial, type AgentDenials, codesOf, MOST_DENIALS } from "../../agent/refusal.js";
import type { RegistryCode, RegistryRefusal } from "../../agent/registry/outcomes.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { type HttpFault, RETRY_AFTER } from "../../http/fault.js";

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

export function fault(
  code: AgentAuthCode,
  message: string,
  more: Omit<Fault, "ok" | "code" | "message"> = {},
): Fault {
  return { ok: false, code, message, ...more };
}

/** What HTTP found wrong before the protocol read the request. */
export function fromHttp({ status, message, retryAfter }: HttpFault): Fault {
  return fault(CODE_OF_STATUS[status], message, retryAfter === undefined ? {} : { retryAfter });
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

/** What the registry calls otherwise than this protocol, which has fewer words and another spelling. */
const OTHERWISE = {
  hosts_not_allowed: "dynamic_host_registration_disabled",
  enrolment_token_invalid: "enrollment_token_invalid",
  enrolment_token_expired: "enrollment_token_expired",
  request_reused: "invalid_request",
  grant_not_found: "capability_not_granted",
} as const satisfies { readonly [Code in RegistryCode]?: AgentAuthCode };

/** What the registry refuses, in the words of this protocol. */
export function registryFault({ code, ...refusal }: RegistryRefusal): Fault {
  const { message, path, capabilities, operators, retryAfter } = refusal;
  const named = capabilities === undefined || code !== "invalid_capabilities";
  return fault(isOtherwise(code) ? OTHERWISE[code] : code, message, {
    ...(retryAfter === undefined ? {} : { retryAfter }),
    more: {
      ...(path === undefined ? {} : { path }),
      ...(named ? {} : { invalid_capabilities: capabilities }),
      ...(operators === undefined ? {} : { unknown_operators: operators }),
    },
  });
}

function isOtherwise(code: RegistryCode): code is keyof typeof OTHERWISE {
  return Object.hasOwn(OTHERWISE, code);
}

const OPERATORS: readonly string[] = ["min", "max", "in", "not_in"];
const PREFIX = "constraints.";

/**
 * What a refused execution is called in this protocol. The first of what all its denials come to counts,
 * in the order of {@link KINDS}; the answer lists all of them.
 *
 * @param known - Names of arguments: those of the schema, and those that were given.
 */
export function invocationFault(denials: AgentDenials, known: readonly string[]): Fault {
  const [code, sentence] = kindOf(denials);
  const violations = denials
    .filter((denial) => denial.code === "constraint_violated")
    .map((denial) => violationOf(denial, known));
  const message = `${sentence}: ${denials[0].message}`;
  return fault(code, message, {
    more: {
      ...(violations.length === 0 ? {} : { violations }),
      denials: denials.slice(0, MOST_DENIALS).map(shown),
    },
    ...(code === "unavailable" ? { retryAfter: RETRY_AFTER } : {}),
    codes: codesOf(denials),
    unrecorded: true,
  });
}

type Kind = readonly [code: AgentAuthCode, sentence: string];

const KINDS: readonly (readonly [codes: readonly AgentDenial["code"][], kind: Kind])[] = [
  [["revoked"], ["capability_not_granted", "the grant was revoked"]],
  [["revocation_stale"], ["unavailable", "revocations cannot be looked up at the moment"]],
  [["policy_denied"], ["unauthorized", "the user's policy does not allow it"]],
  [["constraint_violated"], ["constraint_violated", "the arguments are beyond what was granted"]],
  [["arguments_invalid"], ["invalid_request", "the arguments fail the capability's input schema"]],
];
const OTHERS: Kind = ["capability_not_granted", "no grant allows it"];

function kindOf(denials: AgentDenials): Kind {
  const codes = denials.map(({ code }) => code);
  const listed = KINDS.flatMap(([these]) => these);
  const [revoked, ...others] = KINDS;
  if (revoked?.[0].some((code) => codes.includes(code))) return revoked[1];
  if (codes.some((code) => !listed.includes(code))) return OTHERS;
  return others.find(([these]) => these.some((code) => codes.includes(code)))?.[1] ?? OTHERS;
}

/** A limit that an argument is beyond: `{"field","constraint":{"max":1000},"actual"}`. */
function violationOf({ rule = "", expected, actual }: AgentDenial, known: readonly string[]): Json {
  const whole = rule.startsWith(PREFIX) ? rule.slice(PREFIX.length) : rule;
  const dot = whole.lastIndexOf(".");
  const operator = whole.slice(dot + 1);
  // An argument may be called "amount.max".
  const exact = dot === -1 || !OPERATORS.includes(operator) || known.includes(whole);
  const limit = expected ?? null;
  return {
    field: exact ? whole : whole.slice(0, dot),
    constraint: exact ? limit : { [operator]: limit },
    ...(isJson(actual) ? { actual } : {}),
  };
}

/** A denial without what repeats an argument that is no scalar. */
function shown({ code, rule, expected, message }: AgentDenial): JsonObject {
  return {
    code,
    message,
    ...(rule === undefined ? {} : { rule }),
    ...(expected === undefined ? {} : { expected }),
  };
}

/** Whether a value came from `JSON.parse`, as arguments do. */
function isJson(value: unknown): value is Json {
  return value !== undefined;
}
