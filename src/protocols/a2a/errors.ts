import {
  A2AError,
  ContentTypeNotSupportedError,
  JsonRpcUnsupportedOperationError,
  RestUnsupportedOperationError,
  toJsonRpcError,
} from "@a2a-js/sdk/errors";
import {
  type AgentDenials,
  codesOf,
  MOST_DENIALS,
  type RequestDenial,
} from "../../agent/refusal.js";
import type { HttpFault } from "../../http/fault.js";
import { ERROR_CODES, ERROR_DOMAIN } from "./extension.js";

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const STRUCT = "type.googleapis.com/google.protobuf.Struct";

/** A `google.rpc.ErrorInfo`: what clients tell errors apart by. */
export interface ErrorInfo {
  readonly "@type": typeof ERROR_INFO;
  readonly reason: string;
  readonly domain: string;
  readonly metadata: { readonly [name: string]: string };
}

/** An error as every binding can say it. */
export interface Fault {
  /** Of {@link ERROR_CODES}, or JSON-RPC's own. */
  readonly code: number;
  /** The HTTP status of the same thing. */
  readonly status: number;
  readonly message: string;
  readonly info: ErrorInfo;
  /** What ErrorInfo can hold only as a text: sent beside it, as a `google.protobuf.Struct`. */
  readonly value?: { readonly [name: string]: unknown };
  /** Seconds after which to try again, as the header `Retry-After` says. */
  readonly retryAfter?: number;
}

/** Which of A2A's bindings a request came by. */
export type Binding = "jsonrpc" | "rest";

/** A refused call. */
export function denialFault(denials: AgentDenials): Fault {
  const [{ code, message }] = denials;
  const more = denials.length === 1 ? "" : ` (and ${denials.length - 1} more)`;
  const told = denials.slice(0, MOST_DENIALS);
  const why = fault(ERROR_CODES.denied, `refused: ${code}: ${message}${more}`, code, {
    codes: codesOf(denials).join(","),
    denials: JSON.stringify(told),
  });
  return { ...why, value: { denials: told } };
}

/** A request for capabilities that is not granted. */
export function problemFault(problem: RequestDenial): Fault {
  const { code, message } = problem;
  return fault(ERROR_CODES.requestRefused, message, code, { problem: JSON.stringify(problem) });
}

/** Any other error, with a reason of its own. */
export function fault(
  code: number,
  message: string,
  reason: string,
  metadata: { readonly [name: string]: string } = {},
): Fault {
  const info: ErrorInfo = { "@type": ERROR_INFO, reason, domain: ERROR_DOMAIN, metadata };
  return { code, status: statusOf(code), message, info };
}

/** What is found before a binding reads a request, as A2A and JSON-RPC number it. */
export function faultFromHttp({ status, reason, message, retryAfter }: HttpFault): Fault {
  if (status === 415) return faultFrom(new ContentTypeNotSupportedError(message));
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

/** The answer to a caller that has as much under way as it may. */
export const BUSY: Fault = faultFromHttp({
  status: 429,
  reason: "too_many_tasks",
  message: "as many of this caller's tasks are running as may; wait until one is done",
  retryAfter: 1,
});

/** The answer to a caller whose principal has as many tasks as are kept for it. */
export function quotaFault(message: string): Fault {
  return fault(ERROR_CODES.rateLimited, message, "task_quota_exceeded");
}

function statusOf(code: number): number {
  if (code === -32700 || code === -32600 || code === -32602) return 400;
  if (code === -32601) return 404;
  const status = -code - 31000;
  return status >= 400 && status < 600 ? status : 500;
}

/** The error to throw within the SDK's handlers, for the binding that a request came by. */
export function thrownFault(from: Fault, binding: Binding): Error {
  const { code, status, message, info } = from;
  const error =
    binding === "rest"
      ? new RestUnsupportedOperationError({ statusCode: status, message })
      : new JsonRpcUnsupportedOperationError({ envelopeCode: code, message });
  faults.set(error, from);
  faults.set(info, from);
  // The SDK asks an error for its ErrorInfo; its own classes know only A2A's domain.
  return Object.assign(error, { toErrorInfo: () => info });
}

const faults = new WeakMap<object, Fault>();

/** The fault of an error from {@link thrownFault}, found by the error itself or by its ErrorInfo. */
export function knownFault(of: unknown): Fault | undefined {
  return typeof of === "object" && of !== null ? faults.get(of) : undefined;
}

/** What the SDK's handlers threw, as a fault; of other errors, only A2A's own are shown. */
export function faultFrom(error: unknown): Fault {
  const known = knownFault(error);
  if (known !== undefined) return known;
  if (!(error instanceof A2AError)) return fault(-32603, "internal error", "internal_error");
  const { code, message } = toJsonRpcError(error);
  const { reason, domain } = error.toErrorInfo();
  const info: ErrorInfo = { "@type": ERROR_INFO, reason, domain, metadata: {} };
  return { code, status: a2aStatus(reason) ?? 400, message, info };
}

/** A2A 1.0, section 5.4, as far as it is not 400: the SDK sends 400 for two of these. */
const A2A_STATUS: Readonly<Record<string, number>> = {
  TASK_NOT_FOUND: 404,
  TASK_NOT_CANCELABLE: 409,
  CONTENT_TYPE_NOT_SUPPORTED: 415,
};

/** The HTTP status of one of A2A's own errors, by its reason; `undefined` where the SDK has it right. */
export function a2aStatus(reason: string | undefined): number | undefined {
  return reason === undefined ? undefined : A2A_STATUS[reason];
}

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

/** The body of an error in HTTP+JSON: a `google.rpc.Status`. */
export function restBody(why: Fault): object {
  const { status: code, message } = why;
  const status = REST_STATUS[code] ?? "INTERNAL";
  return { error: { code, status, message, details: detailsOf(why) } };
}

/** The body of an error in JSON-RPC. */
export function jsonRpcBody(why: Fault, id: unknown): object {
  const { code, message } = why;
  const known = typeof id === "string" || typeof id === "number" ? id : null;
  return { jsonrpc: "2.0", id: known, error: { code, message, data: detailsOf(why) } };
}

function detailsOf({ info, value }: Fault): readonly object[] {
  return value === undefined ? [info] : [info, { "@type": STRUCT, value }];
}
