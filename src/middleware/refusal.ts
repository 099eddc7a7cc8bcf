import { type AgentDenial, codesOf, MOST_DENIALS } from "../agent/refusal.js";
import type { Denial, DenialCode } from "../capability/denial.js";
import { CAPABILITY_HEADER, DENIAL_HEADER } from "../http/headers.js";

/** An error code of a resource server. It is the code of RFC 6750 for every case that the RFC covers. */
export type RefusalError =
  | "invalid_request"
  | "capability_missing"
  | "invalid_token"
  | "insufficient_scope"
  | "temporarily_unavailable";

/** The JSON body of the answer to a refused request. */
export interface RefusalBody {
  readonly error: RefusalError;
  /** A sentence for people. */
  readonly message: string;
  /**
   * At most 32 denials: from the check of the capability, or `capability_missing` if the request has no capability.
   * Empty if the request cannot be read.
   */
  readonly denials: readonly AgentDenial[];
}

/** The answer to a refused request. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RefusalBody;
}

/** The contents of a route's challenge. */
export interface Challenge {
  readonly realm: string;
  readonly inAuthorization: boolean;
}

/** Seconds after which a revocation list that is too old may be current again. */
const RETRY_AFTER = "5";

const STATUS = {
  invalid_request: 400,
  capability_missing: 401,
  invalid_token: 401,
  insufficient_scope: 403,
  temporarily_unavailable: 503,
} as const satisfies Record<RefusalError, Refusal["status"]>;

/**
 * The error codes of denials, in order of precedence. `temporarily_unavailable` is the last, since a retry helps only
 * if nothing else is wrong.
 */
const ERRORS = ["invalid_token", "insufficient_scope", "temporarily_unavailable"] as const;

const ERROR_OF: Readonly<Record<DenialCode, (typeof ERRORS)[number]>> = {
  token_malformed: "invalid_token",
  token_truncated: "invalid_token",
  token_too_large: "invalid_token",
  foreign_issuer: "invalid_token",
  unknown_key: "invalid_token",
  signature_mismatch: "invalid_token",
  discharge_missing: "invalid_token",
  discharge_invalid: "invalid_token",
  revoked: "invalid_token",
  caveat_malformed: "invalid_token",
  caveat_unknown: "invalid_token",
  expiry_missing: "invalid_token",
  expired: "invalid_token",
  not_yet_valid: "invalid_token",
  too_many_hops: "invalid_token",
  grant_denied: "insufficient_scope",
  operation_denied: "insufficient_scope",
  resource_denied: "insufficient_scope",
  constraint_violated: "insufficient_scope",
  audience_denied: "insufficient_scope",
  invoker_denied: "insufficient_scope",
  revocation_stale: "temporarily_unavailable",
};

/** Returns the answer to a request whose mistake does not concern its capability, such as two different tokens. */
export function unreadable(message: string, challenge: Challenge): Refusal {
  return refusal("invalid_request", message, [], challenge);
}

/** Returns the answer to a request without a capability. */
export function missing(challenge: Challenge): Refusal {
  const where = challenge.inAuthorization ? "Authorization" : CAPABILITY_HEADER;
  const message = `the request presents no capability; send one in the header ${where}`;
  const denial: AgentDenial = { code: "capability_missing", rule: "capabilities", message };
  return refusal("capability_missing", message, [denial], challenge);
}

/** Returns the answer to a request that the capability does not allow. */
export function denied(denials: readonly [Denial, ...Denial[]], challenge: Challenge): Refusal {
  const found = denials.map(({ code }) => ERROR_OF[code]);
  const error = ERRORS.find((one) => found.includes(one)) ?? "insufficient_scope";
  return refusal(error, denials[0].message, denials, challenge);
}

function refusal(
  error: RefusalError,
  message: string,
  denials: readonly AgentDenial[],
  { realm, inAuthorization }: Challenge,
): Refusal {
  const [first, ...more] = denials;
  const scheme = inAuthorization ? "Bearer" : CAPABILITY_HEADER;
  // Without credentials in the request, the challenge has no error code (RFC 6750, section 3.1).
  const cause = error === "capability_missing" ? "" : `, error="${error}"`;
  const headers = {
    "Cache-Control": "no-store",
    "Content-Type": "application/json",
    ...(first === undefined ? {} : { [DENIAL_HEADER]: codesOf([first, ...more]).join(",") }),
    ...(error === "temporarily_unavailable"
      ? { "Retry-After": RETRY_AFTER }
      : { "WWW-Authenticate": `${scheme} realm="${realm}"${cause}` }),
  };
  const body = { error, message, denials: denials.slice(0, MOST_DENIALS) };
  return { status: STATUS[error], headers, body };
}
