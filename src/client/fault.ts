import type { Json, JsonObject } from "../bytes/json.js";
import { objectIn, objectsIn, textIn } from "./received.js";

/** An error in an agent's answer, unchanged. Nothing in it is safe to display as it is. */
export class AgentFault extends Error {
  override readonly name = "AgentFault";
  /** The HTTP status; for JSON-RPC errors, derived from the code. */
  readonly status: number;
  /** The details: `google.rpc.ErrorInfo` and others. */
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

/** Most characters of a string. */
const MAX_MESSAGE = 1000;

/** Parses the error in an answer of JSON-RPC or `google.rpc.Status`. @param body - `undefined` if it is not JSON. */
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

// JSON-RPC errors come with HTTP 200; the last digits of the extension's codes are the status (docs/a2a.md).
function statusOf(status: number, code: Json | undefined): number {
  if (status >= 400 || typeof code !== "number") return status;
  const own = -code - 31000;
  if (own >= 400 && own < 600) return own;
  return code === -32602 || code === -32600 || code === -32700 ? 400 : 500;
}
