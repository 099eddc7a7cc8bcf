import {
  type AgentDenial,
  type AgentDenials,
  isPassing,
  MOST_DENIALS,
} from "../../agent/refusal.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { isPluginError } from "./plugin.js";

/** A stable code of the protocol's own errors. docs/a2e.md explains each code. */
export type SessionErrorCode =
  | "not_handshaken"
  | "handshake_repeated"
  | "handshake_timeout"
  | "session_unknown"
  | "line_malformed"
  | "line_too_large"
  | "line_timeout"
  | "idle_timeout"
  | "message_invalid"
  | "version_mismatch"
  | "type_unknown"
  | "capability_missing"
  | "capability_ended"
  | "permission_denied"
  | "name_unknown"
  | "arguments_invalid"
  | "too_many_parallel"
  | "too_many_faults"
  | "too_many_sessions"
  | "rate_limited"
  | "timed_out"
  | "cancelled"
  | "plugin_failed"
  | "result_too_large"
  | "server_error"
  | "session_ended";

interface ErrorKind {
  /** True if the same message may succeed later. */
  readonly retryable: boolean;
  /** Set for faults that a correct peer never causes. A session ends after `SessionLimits.faults` of them. */
  readonly counts?: true;
}

/** Every code of the protocol's own errors. Plugins can define further codes. */
export const SESSION_ERRORS: { readonly [Code in SessionErrorCode]: ErrorKind } = {
  not_handshaken: { retryable: true, counts: true },
  handshake_repeated: { retryable: false, counts: true },
  handshake_timeout: { retryable: true },
  session_unknown: { retryable: false, counts: true },
  line_malformed: { retryable: false, counts: true },
  line_too_large: { retryable: false },
  line_timeout: { retryable: true },
  idle_timeout: { retryable: true },
  message_invalid: { retryable: false, counts: true },
  version_mismatch: { retryable: false, counts: true },
  type_unknown: { retryable: false, counts: true },
  capability_missing: { retryable: false },
  capability_ended: { retryable: false },
  permission_denied: { retryable: false },
  name_unknown: { retryable: false },
  arguments_invalid: { retryable: false },
  too_many_parallel: { retryable: true },
  too_many_faults: { retryable: false },
  too_many_sessions: { retryable: true },
  rate_limited: { retryable: true },
  timed_out: { retryable: true },
  cancelled: { retryable: true },
  plugin_failed: { retryable: false },
  result_too_large: { retryable: false },
  server_error: { retryable: true },
  session_ended: { retryable: true },
};

/** The reason why a host refuses a handshake. */
export type HandshakeRefusal = "auth_failed" | "version_mismatch" | "no_caps" | "server_error";

/** The reason why a host refuses a message or ends a session; sent as an `error` message. */
export interface SessionFault {
  /** A {@link SessionErrorCode}, or a code that a plugin defines. */
  readonly code: string;
  readonly message: string;
  readonly detail?: JsonObject;
  /** Unless given, the value in {@link SESSION_ERRORS}; `false` for the code of a plugin. */
  readonly retryable?: boolean;
  /** The affected capability, if the fault concerns one. */
  readonly capability?: string;
}

export function fault(
  code: SessionErrorCode,
  message: string,
  more: Pick<SessionFault, "detail" | "capability" | "retryable"> = {},
): SessionFault {
  return { code, message, ...more };
}

/** Returns whether the same message may succeed later. */
export function isRetryable({ code, retryable }: SessionFault): boolean {
  if (retryable !== undefined) return retryable;
  return isSessionErrorCode(code) && SESSION_ERRORS[code].retryable;
}

/** Returns whether a fault is of a kind that a correct peer never causes. */
export function countsAgainst({ code }: SessionFault): boolean {
  return isSessionErrorCode(code) && SESSION_ERRORS[code].counts === true;
}

function isSessionErrorCode(code: string): code is SessionErrorCode {
  return Object.hasOwn(SESSION_ERRORS, code);
}

/** Converts denials to JSON. Keeps only the first {@link MOST_DENIALS}. */
export function writtenDenials(denials: readonly AgentDenial[]): Json {
  return JSON.parse(JSON.stringify(denials.slice(0, MOST_DENIALS)));
}

/** Returns the fault of a message that the peer's authority does not allow. `detail.denials` lists the reasons. */
export function denied(denials: AgentDenials, capability: string): SessionFault {
  const [{ code, message }] = denials;
  const retryable = isPassing(denials);
  const detail = { denials: writtenDenials(denials) };
  return fault("permission_denied", `${code}: ${message}`, { detail, capability, retryable });
}

const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/** Converts a `PluginError` to a fault. Returns `undefined` for any other error, which the peer must not see. */
export function pluginFault(error: unknown): SessionFault | undefined {
  if (!isPluginError(error) || typeof error.code !== "string") return undefined;
  const { code, message, detail, retryable } = error;
  return CODE.test(code) ? { code, message, detail, retryable } : undefined;
}

/** Explains why an answer cannot be sent. */
export function unsendable(why: "too_large" | "malformed"): string {
  return why === "too_large"
    ? "the answer is longer than a line may be"
    : "the answer is nested too deep for a line, or is not JSON";
}
