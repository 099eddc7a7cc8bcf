import type { Json, JsonObject } from "../bytes/json.js";
import { objectIn, objectsIn, textIn } from "./received.js";

/** An error in an agent's answer. Its properties come from the agent and are not safe to display as they are. */
export class AgentFault extends Error {
  override readonly name = "AgentFault";
  /** The HTTP status; for JSON-RPC errors, derived from the code. */
  readonly status: number;
  /** The details of the error, such as a `google.rpc.ErrorInfo`. */
  readonly details: readonly JsonObject[];
  /** The stable reason, for programs. */
  readonly reason: string | undefined;
  /** The header `WWW-Authenticate`. */
  readonly challenge: string | undefined;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;

  constructor(status: number, message: string, details: readonly JsonObject[], headers: Headers) {
    super(message.slice(0, MAX_MESSAGE));
    this.status = status;
    this.details = details;
    const info = details.find((detail) => detail["reason"] !== undefined);
    this.reason = textIn(info?.["reason"])?.slice(0, MAX_MESSAGE);
    this.challenge = headers.get("WWW-Authenticate") ?? undefined;
    this.retryAfter = headers.get("Retry-After") ?? undefined;
  }
}

/** Longest message and longest reason, in characters. */
const MAX_MESSAGE = 1000;

/**
 * Parses the error in an answer of JSON-RPC or `google.rpc.Status`; `undefined` if the answer is not an error.
 *
 * @param body - The JSON body; `undefined` if the body is not JSON.
 */
export function faultIn(response: Response, body: Json | undefined): AgentFault | undefined {
  const { status, statusText, headers } = response;
  const error = objectIn(body)["error"];
  if (error !== undefined && error !== null) {
    const { message, code, data, details } = objectIn(error);
    const told = textIn(message) ?? "it gives no reason";
    const all = [...objectsIn(data), ...objectsIn(details)];
    return new AgentFault(statusOf(status, code), told, all, headers);
  }
  if (response.ok) return undefined;
  const message = `HTTP ${status}${statusText === "" ? "" : ` ${statusText}`}`;
  return new AgentFault(status, message, [], headers);
}

// JSON-RPC errors come with HTTP 200. The last three digits of the extension's error codes are an HTTP status
// (docs/a2a.md).
function statusOf(status: number, code: Json | undefined): number {
  if (status >= 400 || typeof code !== "number") return status;
  const own = -code - 31000;
  if (own >= 400 && own < 600) return own;
  return code === -32602 || code === -32600 || code === -32700 ? 400 : 500;
}
