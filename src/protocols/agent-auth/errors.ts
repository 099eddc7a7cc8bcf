// Error codes of Agent-Auth 1.0-draft. This folder converts HTTP requests of the protocol to calls of src/agent;
// client/ has the client for hosts and agents.

import type { PartyRefusal, PartyRefusalCode } from "../../agent/parties/refusals.js";
import { type AgentDenial, type AgentDenials, codesOf, MOST_DENIALS } from "../../agent/refusal.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { type HttpFault, RETRY_AFTER } from "../../http/fault.js";

/** The HTTP status of each error code; stable. */
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

/** The value of `error` in an answer; stable. */
export type AgentAuthCode = keyof typeof STATUS;

/** The reason for a refusal, as this protocol reports it. */
export interface Fault {
  readonly ok: false;
  readonly code: AgentAuthCode;
  /** A sentence for people; never contains a token or a key. */
  readonly message: string;
  /** The HTTP status, if it is not the one in {@link STATUS}. */
  readonly status?: number;
  /** Further properties of the answer. */
  readonly more?: JsonObject;
  /** Seconds, for the header `Retry-After`. */
  readonly retryAfter?: number;
  /** Codes of a capability's denials, for the header `Proviso-Denial`. */
  readonly codes?: readonly string[];
  /** True if the refusal must not be added to the ledger, because it is recorded already or reveals nothing. */
  readonly unrecorded?: boolean;
}

export function fault(
  code: AgentAuthCode,
  message: string,
  more: Omit<Fault, "ok" | "code" | "message"> = {},
): Fault {
  return { ok: false, code, message, ...more };
}

/** Converts a fault that was found before the request was read. */
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

/** The protocol's code for each refusal code that is not itself a code of the protocol. */
const OTHERWISE = {
  hosts_not_allowed: "dynamic_host_registration_disabled",
  enrolment_token_invalid: "enrollment_token_invalid",
  enrolment_token_expired: "enrollment_token_expired",
  request_reused: "invalid_request",
  grant_not_found: "capability_not_granted",
} as const satisfies { readonly [Code in PartyRefusalCode]?: AgentAuthCode };

/** Converts a refusal by `Parties` to a fault. */
export function refusalFault({ code, ...refusal }: PartyRefusal): Fault {
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

function isOtherwise(code: PartyRefusalCode): code is keyof typeof OTHERWISE {
  return Object.hasOwn(OTHERWISE, code);
}

/**
 * Converts a refused execution to a fault. Its denials determine the code of the fault: first `revoked`, then any code
 * that is not in {@link KINDS}, then the other entries of {@link KINDS} in their order. The answer lists the denials.
 */
export function invocationFault(denials: AgentDenials): Fault {
  const [code, sentence] = kindOf(denials);
  const violations = denials
    .filter((denial) => denial.code === "constraint_violated")
    .map(violationOf);
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

/** Matches a name in a rule, such as `constraints.amount.max` or `operationConstraints.pay["/to/iban"].in`. */
const RULE_NAME = /\.([\w*-]+)|\[("(?:[^"\\]|\\.)*")\]/g;

/**
 * Describes a violated limit on an argument, such as `{"field":"amount","constraint":{"max":1000},"actual":2000}`. For
 * an argument that is not in the list of allowed arguments, the field is `*`.
 */
function violationOf({ rule = "", expected, actual }: AgentDenial): Json {
  const limit = expected ?? null;
  const given: JsonObject = isJson(actual) ? { actual } : {};
  const [key] = rule.split(/[.[]/, 1);
  if (key === "arguments") return { field: "*", constraint: { arguments: limit }, ...given };
  const names = [...rule.matchAll(RULE_NAME)].map(([, bare, quoted]) =>
    quoted === undefined ? bare : String(JSON.parse(quoted)),
  );
  const [field = rule, operator] = key === "operationConstraints" ? names.slice(1) : names;
  return {
    field,
    constraint: operator === undefined ? limit : { [operator]: limit },
    ...given,
  };
}

/** Returns a denial without `actual`, which can repeat an argument. */
function shown({ code, rule, expected, message, remedy }: AgentDenial): JsonObject {
  return {
    code,
    message,
    ...(rule === undefined ? {} : { rule }),
    ...(expected === undefined ? {} : { expected }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}

/** Returns whether there is a value. Arguments come from `JSON.parse`, so any such value is JSON. */
function isJson(value: unknown): value is Json {
  return value !== undefined;
}
