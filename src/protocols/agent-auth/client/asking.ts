import type { Json, JsonObject } from "../../../bytes/json.js";
import { assertArray, assertOptionalString } from "../../../checks/kinds.js";
import { plainCopy } from "../../../checks/plain.js";

/** A requested capability: its name, optionally with limits on its arguments. */
export type CapabilityAsked = string | { readonly name: string; readonly constraints: JsonObject };

/** Options of a request for capabilities. */
export interface AskOptions {
  /** The reason for the request, shown to the user. */
  readonly reason?: string;
  /** A string that the agent also displays, so that the user can recognize the request. */
  readonly bindingMessage?: string;
  readonly loginHint?: string;
  readonly preferredMethod?: "device_authorization" | "ciba";
  /** An idempotency key: repeating a request with the same key returns the same answer. */
  readonly idempotencyKey?: string;
}

/** The names of the properties of {@link AskOptions}. @internal */
export const ASK_OPTIONS: readonly string[] = [
  "reason",
  "bindingMessage",
  "loginHint",
  "preferredMethod",
  "idempotencyKey",
];

/**
 * Converts requested capabilities to the body of a request.
 *
 * @throws TypeError naming the value that is not plain JSON, such as `capabilities[0].constraints.amount`.
 * @internal
 */
export function askedBody(capabilities: readonly CapabilityAsked[]): readonly Json[] {
  assertArray(capabilities, "capabilities", "names of capabilities");
  return plainCopy(capabilities, "capabilities", "arguments");
}

/**
 * Converts options to properties of a request: the reason for the request, and how to ask the user.
 *
 * @throws TypeError naming the option that is not a string.
 * @internal
 */
export function askingBody(options: AskOptions): JsonObject {
  const { reason, bindingMessage, loginHint, preferredMethod, idempotencyKey } = options;
  const texts = { reason, bindingMessage, loginHint, preferredMethod, idempotencyKey };
  for (const [name, value] of Object.entries(texts)) {
    assertOptionalString(value, `options.${name}`);
  }
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(bindingMessage === undefined ? {} : { binding_message: bindingMessage }),
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    ...(preferredMethod === undefined ? {} : { preferred_method: preferredMethod }),
  };
}
