import type { Response } from "express";
import type {
  DelegationCode,
  DelegationField,
  DelegationProblem,
  DelegationRefusal,
} from "../../agent/delegation/refusal.js";
import { type FaultWriter, type HttpFault, RETRY_AFTER } from "../../http/fault.js";
import { DENIAL_HEADER } from "../../http/headers.js";

/** The stable error codes of the delegation API. */
export type DelegationErrorCode =
  | "VALIDATION_ERROR"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "AGENT_NOT_FOUND"
  | "AGENT_NOT_ACTIVE"
  | "LIMIT_REACHED"
  | "RATE_LIMITED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "INTERNAL_ERROR"
  | "UNAVAILABLE";

/** One problem of a request. */
export interface ErrorDetail {
  /** The name of the wrong body property, header or path parameter. */
  readonly field?: string;
  /** A stable code for the reason. */
  readonly reason: string;
}

/** The body of an error. */
export interface DelegationErrorBody {
  readonly code: DelegationErrorCode;
  readonly message: string;
  readonly details: ErrorDetail & {
    /** All problems, if there is more than one. */
    readonly problems?: readonly (ErrorDetail & { readonly message: string })[];
  };
}

/** The names that an HTTP request uses for the fields of a delegation. */
const FIELDS: { readonly [Field in DelegationField]: string } = {
  delegatee: "delegateeAgentId",
  scopes: "scopes",
  ttl: "ttlSeconds",
  capability: "Authorization",
  chain: "chainId",
};

type Status = readonly [status: number, code: DelegationErrorCode];

const INVALID: Status = [400, "VALIDATION_ERROR"];
const FORBIDDEN: Status = [403, "FORBIDDEN"];
const LIMIT: Status = [429, "LIMIT_REACHED"];

/** The status and code of each refusal. */
export const REFUSALS: { readonly [Code in DelegationCode]: Status } = {
  scope_unknown: INVALID,
  scope_not_held: INVALID,
  scope_not_subset: INVALID,
  ttl_out_of_range: INVALID,
  delegatee_is_delegator: INVALID,
  capability_ambiguous: INVALID,
  capability_bound: INVALID,
  capability_sealed: INVALID,
  capability_full: INVALID,
  capability_missing: FORBIDDEN,
  capability_foreign: FORBIDDEN,
  capability_refused: FORBIDDEN,
  delegator_unknown: FORBIDDEN,
  delegator_inactive: FORBIDDEN,
  tenant_mismatch: FORBIDDEN,
  not_the_delegator: FORBIDDEN,
  delegatee_unknown: [404, "AGENT_NOT_FOUND"],
  chain_unknown: [404, "NOT_FOUND"],
  delegatee_inactive: [409, "AGENT_NOT_ACTIVE"],
  too_many_delegations: LIMIT,
  too_many_revocations: LIMIT,
};

/** The error codes for faults that the HTTP server finds before it reads a request. */
const FAULTS: { readonly [Status in HttpFault["status"]]: DelegationErrorCode } = {
  400: "VALIDATION_ERROR",
  401: "UNAUTHORIZED",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "RATE_LIMITED",
  500: "INTERNAL_ERROR",
  503: "UNAVAILABLE",
};

/** Sends the error for a fault that the HTTP server finds before it reads a request. */
export const answerFault: FaultWriter = (res, { status, reason, message, retryAfter }) => {
  if (retryAfter !== undefined) res.setHeader("Retry-After", String(retryAfter));
  answerError(res, status, { code: FAULTS[status], message, details: { reason } });
};

/**
 * Sends the error for a refusal, with every reason.
 *
 * @param capability - The header that contains the capability.
 */
export function answerRefusal(
  res: Response,
  { problems }: DelegationRefusal,
  capability: string = FIELDS.capability,
): void {
  const detailOf = ({ code, denial = code, field }: DelegationProblem): ErrorDetail => ({
    ...(field === undefined ? {} : { field: field === "capability" ? capability : FIELDS[field] }),
    reason: denial,
  });
  const [first, ...more] = problems;
  const passes = problems.every(({ denial }) => denial === "revocation_stale");
  const [status, code]: Status = passes ? [503, FAULTS[503]] : REFUSALS[first.code];
  if (passes) res.setHeader("Retry-After", String(RETRY_AFTER));
  const all = problems.map((one) => ({ ...detailOf(one), message: one.message }));
  const details = { ...detailOf(first), ...(more.length === 0 ? {} : { problems: all }) };
  answerError(res, status, { code, message: first.message, details });
}

/** Sends the error for a malformed part of a request. */
export function answerInvalid(res: Response, field: string, message: string): void {
  const details = { field, reason: "invalid_request" };
  answerError(res, 400, { code: "VALIDATION_ERROR", message, details });
}

/** Sends the error for a request that names something that does not exist. */
export function answerNotFound(res: Response, reason: string, message: string): void {
  answerError(res, 404, { code: "NOT_FOUND", message, details: { reason } });
}

function answerError(res: Response, status: number, body: DelegationErrorBody): void {
  res.setHeader(DENIAL_HEADER, body.details.reason);
  res.status(status).json(body);
}
