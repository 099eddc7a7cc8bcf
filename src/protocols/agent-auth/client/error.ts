import type { Json, JsonObject } from "../../../bytes/json.js";
import { AgentFault } from "../../../client/fault.js";
import { objectIn, textIn } from "../../../client/received.js";

/** An error that a server answered with, as it came; nothing in it is safe to show as it is. */
export class AgentAuthError extends AgentFault {
  /** What programs distinguish errors by, such as `constraint_violated`; `unknown` where it says none. */
  readonly code: string;
  /** All of it: `violations`, `invalid_capabilities`, `denials` and what else there is. */
  readonly body: JsonObject;

  constructor(status: number, body: JsonObject, headers: Headers) {
    super(status, textIn(body["message"]) ?? "it gives no reason", [], headers);
    this.code = (textIn(body["error"]) ?? textIn(body["code"]) ?? "unknown").slice(0, 128);
    this.body = body;
  }
}

/** The error that an answer is; `undefined` for a success. */
export function agentAuthFault(response: Response, body: Json | undefined): AgentFault | undefined {
  if (response.ok) return undefined;
  return new AgentAuthError(response.status, objectIn(body), response.headers);
}
