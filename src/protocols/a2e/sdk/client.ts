import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { meant } from "../../../checks/members.js";
import { SessionError } from "../received.js";
import { TAKEN } from "./answers.js";
import { hasSdkResult, sdkMembers } from "./types.js";

interface SdkCall {
  readonly name: string | undefined;
  readonly server: string | undefined;
  readonly arguments: JsonObject;
}

/**
 * Builds a request for a host with the SDK's dialect. Requests that call tools or skills have `arguments`. In all other
 * requests, the arguments are properties of the message itself.
 *
 * @param called - The property that names the called tool or skill.
 * @returns The request's own properties; `undefined` if the SDK has no such message.
 * @throws TypeError for an argument that the SDK's host would ignore.
 */
export function sdkRequest(
  operation: string,
  called: string,
  { name, server, arguments: given }: SdkCall,
): JsonObject | undefined {
  const known = sdkMembers(operation);
  if (known === undefined) return undefined;
  if (hasSdkResult(operation)) {
    if (server !== undefined) throw new TypeError(`server: ${operation} has none`);
    return { arguments: given, ...(name === undefined ? {} : { [called]: name }) };
  }
  const stray = Object.keys(given).find((one) => !known.includes(one));
  if (stray !== undefined) {
    throw new TypeError(
      `arguments.${stray}: ${operation} has no such property${meant(stray, known)}`,
    );
  }
  if (name !== undefined || server !== undefined) {
    throw new TypeError(`${name === undefined ? "server" : "name"}: ${operation} has none`);
  }
  return given;
}

/** Returns whether the property `timeout` of a request is the time limit of the call, and not an argument. */
export function hasTimeout(operation: string): boolean {
  return sdkMembers(operation)?.includes("timeout") !== true;
}

/**
 * Returns the outcome in an answer of the SDK's host. For tools and skills, the outcome is in `data`; for all other
 * operations, it is the answer's own properties.
 */
export function sdkOutcome(
  operation: string,
  capability: string,
  message: JsonObject,
): { readonly data: Json } | { readonly error: SessionError } {
  if (!hasSdkResult(operation)) {
    const own = Object.entries(message).filter(([member]) => !TAKEN.includes(member));
    return { data: message["data"] !== undefined ? message["data"] : Object.fromEntries(own) };
  }
  const { data: result } = message;
  if (result === undefined || !isJsonObject(result)) {
    const text = "the host's answer has no result";
    return { error: new SessionError("message_invalid", text, { capability }) };
  }
  const { success, data = null, error, error_code: code } = result;
  if (success === true) return { data };
  const words = typeof error === "string" ? error : "it failed, and the host does not say why";
  const detail = { result: data };
  return {
    error: new SessionError(typeof code === "string" ? code : "tool_error", words, {
      capability,
      detail,
    }),
  };
}
