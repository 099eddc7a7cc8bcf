import {
  A2AError,
  ContentTypeNotSupportedError,
  JsonRpcUnsupportedOperationError,
  RestInvalidAgentResponseError,
  RestRequestMalformedError,
  RestUnsupportedOperationError,
  toJsonRpcError,
} from "@a2a-js/sdk/errors";
import { ClearanceLostError } from "../../agent/clearance.js";
import {
  type AgentDenials,
  codesOf,
  isPassing,
  MOST_DENIALS,
  type RequestDenial,
} from "../../agent/refusal.js";
import { failureFault, type HttpFault, RETRY_AFTER } from "../../http/fault.js";
import { StorageError } from "../../storage/storage-error.js";
import { ERROR_CODES, ERROR_DOMAIN } from "./extension.js";
import { TaskQuotaError } from "./tasks/quota.js";

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const STRUCT = "type.googleapis.com/google.protobuf.Struct";

/** A `google.rpc.ErrorInfo`, by which clients recognize errors. */
export interface ErrorInfo {
  readonly "@type": typeof ERROR_INFO;
  readonly reason: string;
  readonly domain: string;
  readonly metadata: { readonly [name: string]: string };
}

/** An error in a form that every binding can express. */
export interface Fault {
  /** The JSON-RPC code of the error: one of {@link ERROR_CODES}, or a code that JSON-RPC defines. */
  readonly code: number;
  /** The HTTP status of the error. */
  readonly status: number;
  readonly message: string;
  readonly info: ErrorInfo;
  /**
   * Structured details. They are sent beside the ErrorInfo as a `google.protobuf.Struct`, because an ErrorInfo
   * has only strings.
   */
  readonly value?: { readonly [name: string]: unknown };
  /** Seconds after which to retry, for the header `Retry-After`. */
  readonly retryAfter?: number;
}

/** The A2A binding of a request. */
export type Binding = "jsonrpc" | "rest";

/** Returns the fault of a refused call. */
export function denialFault(denials: AgentDenials): Fault {
  const [{ code, message }] = denials;
  const more = denials.length === 1 ? "" : ` (and ${denials.length - 1} more)`;
  const told = denials.slice(0, MOST_DENIALS);
  const passes = isPassing(denials);
  const number = passes ? ERROR_CODES.unavailable : ERROR_CODES.denied;
  const why = fault(number, `refused: ${code}: ${message}${more}`, code, {
    codes: codesOf(denials).join(","),
    denials: JSON.stringify(told),
  });
  return { ...why, ...(passes ? { retryAfter: RETRY_AFTER } : {}), value: { denials: told } };
}

/** Returns the fault of a refused request for capabilities. */
export function problemFault(problem: RequestDenial): Fault {
  const { code, message } = problem;
  return fault(ERROR_CODES.requestRefused, message, code, { problem: JSON.stringify(problem) });
}

/** Returns a fault with the given reason in its ErrorInfo. */
export function fault(
  code: number,
  message: string,
  reason: string,
  metadata: { readonly [name: string]: string } = {},
): Fault {
  const info: ErrorInfo = { "@type": ERROR_INFO, reason, domain: ERROR_DOMAIN, metadata };
  return { code, status: statusOf(code), message, info };
}

/** Converts a fault of the HTTP server to a fault with a code of A2A or JSON-RPC. */
export function faultFromHttp({ status, reason, message, retryAfter }: HttpFault): Fault {
  if (status === 415) return faultFromA2A(new ContentTypeNotSupportedError(message));
  const code = reason === "parse_error" ? -32700 : HTTP_CODES[status];
  const why = fault(code, message, reason);
  return retryAfter === undefined ? why : { ...why, retryAfter };
}

const HTTP_CODES: Readonly<Record<Exclude<HttpFault["status"], 415>, number>> = {
  400: -32600,
  401: ERROR_CODES.unauthenticated,
  413: ERROR_CODES.tooLarge,
  429: ERROR_CODES.rateLimited,
  500: -32603,
  503: ERROR_CODES.unavailable,
};

/** The fault for a caller that already has the maximum number of running calls and tasks. */
export const BUSY: Fault = faultFromHttp({
  status: 429,
  reason: "too_many_tasks",
  message: "this caller has the maximum of running tasks; wait until one is done",
  retryAfter: 1,
});

/** The fault for a caller that already has the maximum number of open event streams. */
export const TOO_MANY_STREAMS: Fault = faultFromHttp({
  status: 429,
  reason: "too_many_streams",
  message: "this caller has the maximum of open event streams; close one first",
  retryAfter: 1,
});

/** Returns the HTTP status of an error code. */
export function statusOf(code: number): number {
  if (code === -32700 || code === -32600 || code === -32602) return 400;
  if (code === -32601) return 404;
  const status = -code - 31000;
  return status >= 400 && status < 600 ? status : 500;
}

/** Thrown to answer a request with a fault. */
class Refused extends Error {
  readonly fault: Fault;

  constructor(why: Fault) {
    super(why.message);
    this.fault = why;
  }
}

export function throwRefused(why: Fault): never {
  throw new Refused(why);
}

/** Returns the fault of a request with an invalid parameter. */
export function malformed(message: string): Fault {
  return fault(-32602, message, "invalid_request");
}

/** Returns the fault of an internal error, without the error's details. */
export function failedWithin(error: unknown): Fault {
  return faultFromHttp(failureFault(error));
}

/**
 * Converts a fault to an error for the SDK's handlers. The SDK's answer contains the error's ErrorInfo, but no
 * other details.
 */
export function sdkError(why: Fault, binding: Binding): Error {
  const { code, status, message, info } = why;
  const Rest = REST_ERRORS[status] ?? RestUnsupportedOperationError;
  const error =
    binding === "rest"
      ? new Rest({ statusCode: status, message })
      : new JsonRpcUnsupportedOperationError({ envelopeCode: code, message });
  told.set(error, why);
  // The SDK calls `toErrorInfo` of an error. In the SDK's own classes, that method always returns A2A's domain.
  return Object.assign(error, { toErrorInfo: () => info });
}

/** The fault of each error that {@link sdkError} made, including the parts that the SDK omits. */
const told = new WeakMap<Error, Fault>();

/**
 * Error classes of the SDK by HTTP status. Each class gives the SDK's answer the matching `status` of a
 * google.rpc.Status.
 */
const REST_ERRORS: Readonly<Record<number, typeof RestUnsupportedOperationError>> = {
  400: RestRequestMalformedError,
  500: RestInvalidAgentResponseError,
};

/** Returns the fault that answers an error; `undefined` for an internal error. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof Refused) return error.fault;
  if (error instanceof TaskQuotaError) {
    return fault(ERROR_CODES.rateLimited, error.message, "task_quota_exceeded");
  }
  if (error instanceof ClearanceLostError) return denialFault(error.denials);
  if (isOfStore(error)) return failedWithin(error.cause);
  if (!(error instanceof A2AError)) return undefined;
  return told.get(error) ?? faultFromA2A(error);
}

/**
 * Returns whether an error means that tasks could not be read or written. The task store reports the
 * StorageError to the operator, then throws an SDK error with the StorageError as its `cause`.
 */
export function isOfStore(error: unknown): error is A2AError & { readonly cause: StorageError } {
  return error instanceof A2AError && error.cause instanceof StorageError;
}

/** Returns the fault of one of A2A's own errors. */
function faultFromA2A(error: A2AError): Fault {
  const { code, message } = toJsonRpcError(error);
  const { reason, domain, metadata = {} } = error.toErrorInfo();
  const info: ErrorInfo = { "@type": ERROR_INFO, reason, domain, metadata };
  // Codes of A2A itself, such as -32001, do not contain a status.
  const own = code <= -32000 && code > -32600;
  return { code, status: A2A_STATUS[reason] ?? (own ? 400 : statusOf(code)), message, info };
}

/** HTTP statuses other than 400 in A2A 1.0, section 5.4. The SDK itself sends 400 for two of these errors. */
const A2A_STATUS: Readonly<Record<string, number>> = {
  TASK_NOT_FOUND: 404,
  TASK_NOT_CANCELABLE: 409,
  CONTENT_TYPE_NOT_SUPPORTED: 415,
};

const REST_STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ALREADY_EXISTS",
  413: "RESOURCE_EXHAUSTED",
  415: "INVALID_ARGUMENT",
  422: "FAILED_PRECONDITION",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** Returns the body of an HTTP+JSON error: a `google.rpc.Status`. */
export function restBody(why: Fault): object {
  const { status: code, message, info } = why;
  // Among A2A's errors with status 400, only INVALID_PARAMS is about the message; the other errors are about
  // the agent.
  const unfit = code === 400 && info.domain !== ERROR_DOMAIN && info.reason !== "INVALID_PARAMS";
  const status = unfit ? "FAILED_PRECONDITION" : (REST_STATUS[code] ?? "INTERNAL");
  return { error: { code, status, message, details: detailsOf(why) } };
}

/** Returns the body of a JSON-RPC error. */
export function jsonRpcBody(why: Fault, id: unknown): object {
  const { code, message } = why;
  const known = typeof id === "string" || typeof id === "number" ? id : null;
  return { jsonrpc: "2.0", id: known, error: { code, message, data: detailsOf(why) } };
}

function detailsOf({ info, value }: Fault): readonly object[] {
  return value === undefined ? [info] : [info, { "@type": STRUCT, value }];
}
